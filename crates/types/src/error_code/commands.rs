//! Codes of the command line, of the configuration and of starting a server.

macro_rules! commands {
    ($($before:tt)*) => { collect! { $($before)*

ClientFailed "CLIENT_FAILED" Command GiveUp {
    what: "The command could not create its HTTP client.",
    why: "Setting up TLS failed, most often because the machine's root certificates cannot be read.",
    fix: "The message has the cause. Install the root certificates, for example the package \
          `ca-certificates`.",
}
ClockUnsettled "CLOCK_UNSETTLED" Command Reject {
    what: "A test could not advance its simulated clock.",
    why: "A handler is still running after 30 s of real time, and time does not pass for it.",
    fix: "Let the handler end before the test advances the clock. To test a timeout, use \
          `advance_regardless`.",
}
ConfigInvalid "CONFIG_INVALID" Command Reject {
    what: "The configuration is invalid.",
    why: "A setting has an invalid value, or the configuration file is not TOML. The message names the \
          key, the rule and the source.",
    fix: "Correct the value. `riverrun config` prints every setting with its source.",
}
ConfigUnknownKey "CONFIG_UNKNOWN_KEY" Command Reject {
    what: "The configuration has an unknown setting.",
    why: "The file, the environment or a flag names a key that does not exist. It may be misspelt.",
    fix: "Use the name that the message suggests. `riverrun config` lists all settings.",
}
FileExists "FILE_EXISTS" Command Reject {
    what: "The command wrote nothing, because a file or folder is already there.",
    why: "It does not replace existing files.",
    fix: "Choose another name or folder, or move the file away. `riverrun backup` has `--force`.",
}
FileUnusable "FILE_UNUSABLE" Command Reject {
    what: "A file or folder could not be read or written.",
    why: "It does not exist, its permissions do not allow it, or it is a pipe or device. The message \
          has the system's reason.",
    fix: "Check the path and its permissions: `ls -la <path>`.",
}
InputNotJson "INPUT_NOT_JSON" Command Reject {
    what: "The input of the command is not JSON.",
    why: "The text after `-d` cannot be parsed. Shell quoting is the most common cause.",
    fix: "Put it in single quotes, as in `-d '{\"name\": \"Ada\"}'`, or read a file with `-d \
          @input.json`.",
}
ListenFailed "LISTEN_FAILED" Command Reject {
    what: "The server cannot listen on this address.",
    why: "The address does not belong to this machine, or the port is below 1024 and needs more \
          rights.",
    fix: "Use an address of this machine and a port from 1024: `riverrun serve --listen \
          127.0.0.1:4600`.",
}
ListenUnauthenticated "LISTEN_UNAUTHENTICATED" Command Reject {
    what: "The server did not start, because other machines could reach it without authentication.",
    why: "`listen` is not a loopback address, and every client that reaches the server can read, start \
          and delete runs.",
    fix: "Listen on 127.0.0.1 and put an authenticating proxy in front of it, or accept the risk: \
          `riverrun serve --listen 0.0.0.0:4600 --allow-unauthenticated`.",
}
NotRiverrun "NOT_RIVERRUN" Command Reject {
    what: "The server at this URL did not answer as riverrun does.",
    why: "The URL belongs to another program, or a proxy in front of the server answered itself, for \
          example with 401, because the command sends no credentials.",
    fix: "Correct `--url` or `RIVERRUN_URL`. Behind an authenticating proxy, connect to the server \
          directly: run the command on its machine, without `--url`.",
}
NoProcesses "NO_PROCESSES" Command Reject {
    what: "The worker did not start, because it has nothing to run.",
    why: "The project has no file under `processes/`, or none that loads.",
    fix: "Add a process, or correct the files that the lines before name. `riverrun doctor` loads \
          every process.",
}
NoThreads "NO_THREADS" Command GiveUp {
    what: "The command could not start its threads.",
    why: "The user or container has reached its limit of processes and threads.",
    fix: "Raise the limit: `ulimit -u`, or the `pids` limit of the container.",
}
PortInUse "PORT_IN_USE" Command Reject {
    what: "The server did not start, because the port is in use.",
    why: "Another program listens on it, perhaps an earlier `riverrun`.",
    fix: "Stop it (`ss -ltnp` lists the programs that listen), or use another port: `riverrun serve --listen \
          127.0.0.1:0` uses any free port.",
}
ProjectNotFound "PROJECT_NOT_FOUND" Command Reject {
    what: "The project folder does not exist.",
    why: "The path is misspelt, or relative to another folder.",
    fix: "Correct the path, or create a project: `riverrun init <folder>`.",
}
RegistryInvalid "REGISTRY_INVALID" Command Reject {
    what: "The registry file cannot be used.",
    why: "It cannot be parsed, or another version of riverrun wrote it.",
    fix: "Write it again: `riverrun build <project>`.",
}
SandboxFailed "SANDBOX_FAILED" Command GiveUp {
    what: "The server did not start, because the sandbox of expressions failed to start.",
    why: "Its threads could not be created: the user or container has reached its limit of processes \
          and threads.",
    fix: "Raise the limit: `ulimit -u`, or the `pids` limit of the container.",
}
ServerFailed "SERVER_FAILED" Command GiveUp {
    what: "The server stopped, because its listening socket failed.",
    why: "The system reported an error for the socket; the message has it. A reached limit of open \
          files does not stop the server: it logs `no connection can be accepted` and continues.",
    fix: "Correct the cause that the message names, and start the server again. Acknowledged data is \
          safe.",
}
Unreachable "UNREACHABLE" Command Retry {
    what: "No server answered at this URL.",
    why: "The server is not running, listens on another address, or the connection broke.",
    fix: "Start one with `riverrun dev` or `riverrun serve`, or set `--url` or `RIVERRUN_URL`. \
          `riverrun doctor` checks the address.",
}
UrlInvalid "URL_INVALID" Command Reject {
    what: "The URL of the server is invalid.",
    why: "It lacks the scheme or the host.",
    fix: "Use the URL that `riverrun serve` prints when it starts, with scheme, host and port.",
}
Usage "USAGE" Command Reject {
    what: "A flag of the command has an invalid value.",
    why: "The value cannot be parsed. The message shows it.",
    fix: "Add `--help` to the command for its flags and an example.",
}
WatchFailed "WATCH_FAILED" Command GiveUp {
    what: "`riverrun dev` cannot watch the project folder for changes.",
    why: "The system's limit of watched files is reached, or the file system cannot report changes.",
    fix: "Raise the limit, on Linux with `sysctl fs.inotify.max_user_watches=524288`, or serve without \
          watching: `riverrun serve --project <folder>`.",
}
    } };
}
