// src/version.ts
var version = "0.1.0";

export {
  version
};
