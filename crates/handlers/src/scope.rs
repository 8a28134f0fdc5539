//! What `${path}` in a config sees.

use riverrun_engine::View;
use riverrun_runtime::Call;
use riverrun_types::State;

/// The step's input as a scope: its members if it is an object, else `input`.
pub(crate) fn members(call: &Call<'_>) -> State {
    State::from_input(&call.input)
}

/// The state, with `input` in sight where the state has no such key of its own.
pub(crate) fn with_input<'a>(call: &'a Call<'_>) -> View<'a> {
    let view = call.view.clone();
    match call.input.is_null() {
        true => view,
        false => view.over("input", &call.input),
    }
}
