import type { Logger, LogLevel } from '../context.ts';
import type { Link } from './link.ts';
import type { Redact } from './redact.ts';
export interface LogSettings {
    level: LogLevel;
    redact: Redact;
}
export declare class LinkLogger implements Logger {
    #private;
    constructor(link: Link, settings: LogSettings, bindings?: Record<string, unknown>);
    debug: (message: string, meta?: Record<string, unknown>) => void;
    info: (message: string, meta?: Record<string, unknown>) => void;
    warn: (message: string, meta?: Record<string, unknown>) => void;
    error: (message: string, meta?: Record<string, unknown>) => void;
    child: (bindings: Record<string, unknown>) => Logger;
}
