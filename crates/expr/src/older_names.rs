//! The name that the specifications use for `retriable`.
//!
//! Errors are recorded with `retriable`. Expressions that were written with the specifications'
//! name read it as `retryable`, where an object has no such member of its own. Results of
//! expressions do not contain that name.

pub(crate) const OLDER: &str = "retryable";
pub(crate) const TODAYS: &str = "retriable";

/// A function that lets a value and all that is inside it be read by the older name.
pub(crate) const READABLE_BY_OLDER: &str = r#"(value) => {
    "use strict";
    const pending = [value];
    while (pending.length > 0) {
        const object = pending.pop();
        if (object === null || typeof object !== "object") continue;
        if (Object.hasOwn(object, "retriable") && !Object.hasOwn(object, "retryable")) {
            Object.defineProperty(object, "retryable", {
                value: object.retriable, writable: true, configurable: true, enumerable: false,
            });
        }
        for (const key of Object.keys(object)) pending.push(object[key]);
    }
    return value;
}"#;
