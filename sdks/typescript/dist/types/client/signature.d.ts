/** What a door with a secret wants to see of whoever opens it: the HMAC-SHA256 of the body. */
export declare function signature(secret: string, body: string): Promise<string>;
