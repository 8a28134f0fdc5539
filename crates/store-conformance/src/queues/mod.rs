//! Jobs in queues, by what is done to them.

pub mod add;
pub mod claim;
pub mod given;
pub mod life;
pub mod limits;
pub mod lists;
pub mod park;
pub mod purge;
pub mod settle;
pub mod steer;
pub mod take;
pub mod unique;
