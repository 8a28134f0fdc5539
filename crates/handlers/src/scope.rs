//! The values that `${path}` in a config can name.

use riverrun_contract::Call;
use riverrun_engine::View;
use riverrun_types::{Json, Path, State};

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

/// The value at a path: in the input where the step selects one and that has it, else in the state.
pub(crate) fn selected(call: &Call<'_>, path: &Path) -> Option<Json> {
    let in_input = call.selects_input.then(|| call.input.path(path)).flatten();
    in_input.or_else(|| with_input(call).path(path))
}
