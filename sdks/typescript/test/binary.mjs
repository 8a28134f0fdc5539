/** The binary that plays flows in these tests: `cargo build -p riverrun` makes it. */

import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../../../target/debug/riverrun', import.meta.url))
process.env.RIVERRUN_BINARY ??= process.env.RIVERRUN_BIN ?? (process.env.CARGO_TARGET_DIR ? `${process.env.CARGO_TARGET_DIR}/debug/riverrun` : built)
