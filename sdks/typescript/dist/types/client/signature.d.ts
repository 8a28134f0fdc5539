/** The signature that a callback with a secret requires: the HMAC-SHA256 of the body. */
export declare function signature(secret: string, body: string): Promise<string>;
