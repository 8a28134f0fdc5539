//! Codes of the store and its files.

macro_rules! store {
    ($($before:tt)*) => { collect! { $($before)*

DiskFull "DISK_FULL" Request(507) Retry {
    what: "The disk is full, so the server rejected the write. Acknowledged data is safe.",
    why: "The store's disk has no free space. Deletes and cancels still work, because the store keeps \
          a reserve for them.",
    fix: "Free space on the disk (`df -h`), or delete ended runs and jobs: `riverrun runs delete <id>`, \
          `riverrun queues clean <queue>`. Shorten `retention.completed`.",
}
NewerSchema "NEWER_SCHEMA" Request(503) GiveUp {
    what: "The server did not open the store, because a newer riverrun wrote it.",
    why: "A newer version changed the tables when it opened the folder, and older versions cannot read \
          them.",
    fix: "Run the newer version again, or restore a backup that was made before the upgrade into a new \
          folder: `riverrun restore <backup> --data <folder>`.",
}
StoreClosed "STORE_CLOSED" Request(503) Retry {
    what: "The request came after the store was closed.",
    why: "The server is stopping.",
    fix: "Send the request again when the server is back.",
}
StoreCorrupt "STORE_CORRUPT" Request(500) GiveUp {
    what: "Stored data cannot be read. Everything else can still be read and written.",
    why: "A row or page does not match its checksum, most often because of a failing disk or memory, \
          or because the files were changed from outside.",
    fix: "`riverrun verify` lists everything that is damaged. Cancel and delete the damaged runs and \
          jobs, or restore a backup: `riverrun restore <backup> --data <folder>`.",
}
StoreDamaged "STORE_DAMAGED" Request(500) GiveUp {
    what: "The server does not start, because acknowledged data is missing. Nothing was changed.",
    why: "A file of the data folder was cut, emptied, replaced or removed, or its log is damaged in \
          the middle.",
    fix: "Put the files back, or restore a backup: `riverrun restore <backup> --data <folder>`. To give \
          up what is missing, run `riverrun verify --accept-loss`, which keeps the old files beside \
          the new ones.",
}
StoreGone "STORE_GONE" Request(503) GiveUp {
    what: "The server stopped writing and shuts down.",
    why: "Files of the data folder were deleted, moved or replaced while the server used them.",
    fix: "Put the files back or restore a backup with `riverrun restore <backup> --data <folder>`, then \
          start the server again.",
}
StoreLocked "STORE_LOCKED" Request(503) GiveUp {
    what: "The store could not be opened, because another process uses it.",
    why: "One server at a time owns a data folder. Another `riverrun` process runs with the same one.",
    fix: "Stop the other server, or use another folder: `riverrun serve --data <folder>`.",
}
StoreNotBuiltIn "STORE_NOT_BUILT_IN" Command Reject {
    what: "The server did not start, because this version does not have this kind of store.",
    why: "The URL in `store` names Postgres or Redis, which are planned and not available yet.",
    fix: "Use the embedded store: `riverrun serve --store sqlite://`. \
          `docs/guides/several-servers.md` describes what is possible with one server.",
}
StoreReadOnly "STORE_READ_ONLY" Request(503) GiveUp {
    what: "The store cannot be written.",
    why: "The user of the server may not write to the data folder, or its disk is mounted read-only.",
    fix: "Check the permissions with `ls -la <data folder>` and the mount with `findmnt`, or use \
          another folder: `riverrun serve --data <folder>`.",
}
StoreUnavailable "STORE_UNAVAILABLE" Request(503) Retry {
    what: "The store could not do what was asked.",
    why: "A read or write of its files failed or took too long, its lock could not be taken, or it is \
          being closed. A backup also stops with this code when the log has grown by `--max-log`.",
    fix: "Send the request again. If it lasts, check `GET /readyz`, the server's log and the disk. Make \
          a backup while the server writes less, or raise `--max-log`.",
}
StoreUnknown "STORE_UNKNOWN" Command Reject {
    what: "The server did not start, because the URL of the store is invalid.",
    why: "The URL in `store` names no kind of store that riverrun knows.",
    fix: "Use `sqlite://`, `sqlite:///folder` or `memory:`, for example `riverrun serve --store \
          sqlite://`.",
}
    } };
}
