// src/runner/typescript/hooks.ts
import { readFileSync as readFileSync3, statSync as statSync2 } from "node:fs";
import * as nodeModule from "node:module";
import { dirname as dirname3 } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

// src/runner/typescript/resolve.ts
import { readFileSync as readFileSync2, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname as dirname2, extname, join as join2, resolve as resolve2 } from "node:path";

// src/runner/typescript/tsconfig.ts
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

// src/runner/typescript/jsonc.ts
function parseJsonc(text) {
  const plain = text.replace(/^\uFEFF/, "").replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n\r]*|\/\*[^]*?\*\//g, (part) => part[0] === '"' ? part : " ");
  const strict = plain.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (part) => part[0] === '"' ? part : "");
  return strict.trim() ? JSON.parse(strict) : void 0;
}

// src/runner/typescript/tsconfig.ts
var none = { candidates: () => [], keepImports: false };
var known = /* @__PURE__ */ new Map();
function tsconfigOf(folder) {
  let config = known.get(folder);
  if (!config) {
    const file = join(folder, "tsconfig.json");
    const above = dirname(folder);
    if (existsSync(file)) config = read(file);
    else config = above === folder ? none : tsconfigOf(above);
    known.set(folder, config);
  }
  return config;
}
function read(file) {
  const { baseUrl, paths = {}, pathsFolder, verbatimModuleSyntax } = options(file, dirname(file), []);
  const from = baseUrl ?? pathsFolder ?? dirname(file);
  const patterns = Object.entries(paths).map(([pattern, targets]) => ({ pattern, star: pattern.indexOf("*"), targets }));
  patterns.sort((a, b) => (b.star < 0 ? Infinity : b.star) - (a.star < 0 ? Infinity : a.star) || 0);
  return {
    keepImports: verbatimModuleSyntax === true,
    candidates(specifier) {
      const found = patterns.map(({ pattern, star, targets }) => ({ targets, matched: match(pattern, star, specifier) })).find(({ matched }) => matched !== void 0);
      const mapped = (found?.targets ?? []).map((target) => resolve(from, target.replace("*", () => found.matched)));
      return baseUrl === void 0 ? mapped : [...mapped, resolve(baseUrl, specifier)];
    }
  };
}
function match(pattern, star, specifier) {
  if (star < 0) return pattern === specifier ? "" : void 0;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits = specifier.length >= before.length + after.length && specifier.startsWith(before) && specifier.endsWith(after);
  return fits ? specifier.slice(before.length, specifier.length - after.length) : void 0;
}
function options(file, root, seen) {
  if (seen.includes(file)) return {};
  const written = parse(file);
  const folder = dirname(file);
  const inherited = [written.extends ?? []].flat().map((base) => {
    const found = typeof base === "string" ? extended(base, file) : void 0;
    return found ? options(found, root, [...seen, file]) : {};
  });
  const own = { ...written.compilerOptions };
  const filled = (text) => text.replace("${configDir}", root);
  if (own.baseUrl !== void 0) own.baseUrl = resolve(folder, filled(own.baseUrl));
  if (own.paths) {
    own.paths = Object.fromEntries(Object.entries(own.paths).map(([name, targets]) => [name, targets.map(filled)]));
    own.pathsFolder = folder;
  }
  return Object.assign({}, ...inherited, own);
}
function parse(file) {
  try {
    return parseJsonc(readFileSync(file, "utf8")) ?? {};
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error.message}`);
  }
}
function extended(base, file) {
  if (/^(\.{0,2}\/)/.test(base) || base === "." || base === "..") {
    const path = resolve(dirname(file), base);
    return [path, `${path}.json`, join(path, "tsconfig.json")].find((candidate) => candidate.endsWith(".json") && existsSync(candidate));
  }
  const { resolve: find } = createRequire(file);
  for (const name of [base, `${base}.json`, `${base}/tsconfig.json`]) {
    try {
      const found = find(name);
      if (found.endsWith(".json")) return found;
    } catch {
    }
  }
  return void 0;
}

// src/runner/typescript/resolve.ts
var swapped = { ".js": ".ts", ".mjs": ".mts", ".cjs": ".cts" };
var endings = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
var scheme = /^[a-z][a-z0-9+.-]*:/i;
function isTypeScript(file) {
  return /\.[cm]?ts$/.test(file) && !/[\\/]node_modules[\\/]/.test(file);
}
function resolveFrom(specifier, parent) {
  if (isBuiltin(specifier) || scheme.test(specifier)) return void 0;
  if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") return fileOf(resolve2(dirname2(parent), specifier));
  for (const candidate of tsconfigOf(dirname2(parent)).candidates(specifier)) {
    const file = fileOf(candidate);
    if (file) return file;
  }
  return void 0;
}
function fileOf(path) {
  const ending = extname(path);
  const other = swapped[ending];
  const direct = [...other ? [path.slice(0, -ending.length) + other] : [], path, ...endings.map((added) => path + added)];
  const found = direct.find(isFile) ?? endings.map((added) => join2(path, `index${added}`)).find(isFile);
  return found && realpathSync(found);
}
function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
var types = /* @__PURE__ */ new Map();
function formatOf(file) {
  if (file.endsWith(".mts")) return "module";
  return file.endsWith(".cts") ? "commonjs" : typeOf(dirname2(file));
}
function typeOf(folder) {
  if (types.has(folder)) return types.get(folder);
  const above = dirname2(folder);
  const written = packageType(join2(folder, "package.json"));
  const type = written === null ? above === folder ? void 0 : typeOf(above) : written;
  types.set(folder, type);
  return type;
}
function packageType(file) {
  try {
    const { type } = JSON.parse(readFileSync2(file, "utf8"));
    return type === "module" || type === "commonjs" ? type : void 0;
  } catch {
    return null;
  }
}

// src/runner/typescript/translator.ts
import { spawnSync } from "node:child_process";
import { readSync, writeSync } from "node:fs";
var patienceMs = 2e4;
var answerBytes = 64 * 1024 * 1024;
function givenPlace() {
  const { RIVERRUN_TYPESCRIPT_FD: fd, RIVERRUN_TYPESCRIPT_COMMAND: command } = process.env;
  if (!fd && !command) return void 0;
  return { ...fd ? { fd: Number(fd) } : { command }, lock: new SharedArrayBuffer(4) };
}
function translate(place2, source) {
  const answer = JSON.parse(ask(place2, Buffer.from(JSON.stringify(source))).toString());
  if ("ok" in answer) return answer.ok;
  if ("failed" in answer) throw failed(`${source.file}: ${answer.failed}`);
  throw invalid(source.file, answer.error);
}
function failed(message) {
  return Object.assign(new Error(message), { code: "MODULE_TS" });
}
function invalid(file, { message, line, column, shown }) {
  const error = Object.assign(new SyntaxError(message), { code: "ERR_INVALID_TYPESCRIPT_SYNTAX" });
  error.stack = `${file}:${line}
${shown || `
${" ".repeat(column - 1)}^`}

SyntaxError: ${message}`;
  return error;
}
function ask(place2, request) {
  const message = Buffer.alloc(4 + request.length);
  message.writeUInt32BE(request.length);
  request.copy(message, 4);
  return place2.fd === void 0 ? askProgram(place2.command, message) : inTurn(place2, (fd) => askSocket(fd, message));
}
function inTurn({ lock, fd }, act) {
  const turn = new Int32Array(lock);
  while (Atomics.compareExchange(turn, 0, 0, 1) !== 0) Atomics.wait(turn, 0, 1);
  try {
    return act(fd);
  } finally {
    Atomics.store(turn, 0, 0);
    Atomics.notify(turn, 0, 1);
  }
}
function askSocket(fd, message) {
  for (let sent = 0; sent < message.length; ) sent += writeSync(fd, message, sent);
  return read2(fd, read2(fd, 4).readUInt32BE());
}
function read2(fd, length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const count = readSync(fd, bytes, at, length - at, null);
    if (count === 0) throw failed("the server does not answer");
    at += count;
  }
  return bytes;
}
function askProgram(command, input) {
  const { stdout, error, signal } = spawnSync(command, ["__translate"], { input, env: {}, timeout: patienceMs, maxBuffer: answerBytes });
  if (error) throw failed(`${command} cannot be started: ${error.message}`);
  if (stdout.length < 4) throw failed(`the translator of TypeScript ended${signal ? ` with ${signal}` : ""}`);
  return stdout.subarray(4);
}

// src/runner/typescript/hooks.ts
var fileBytes = 8 * 1024 * 1024;
var { registerHooks } = nodeModule;
var place;
function loadsTypeScript() {
  return place !== void 0;
}
function provideTypeScript(url) {
  place = givenPlace();
  if (!place) return;
  if (registerHooks) return registerHooks({ resolve: resolveNow, load: loadNow });
  nodeModule.register(url, { data: place });
  changeRequire();
}
function beforeTypeScript() {
  if (!registerHooks) enableSourceMaps();
}
function enableSourceMaps() {
  process.setSourceMapsEnabled(true);
}
function resolveNow(specifier, context, next) {
  const parent = parentOf(context);
  if (!parent) return next(specifier, context);
  const own = ownResolution(specifier, parent);
  if (own) return own;
  try {
    return withAttributes(next(specifier, context));
  } catch (error) {
    return instead(error);
  }
}
function loadNow(url, context, next) {
  const file = typeScriptAt(url);
  if (!file) return next(url, context);
  const { code, format } = javaScriptOf(file);
  return { format, source: code, shortCircuit: true };
}
function initialize(given) {
  place = given;
}
async function resolve3(specifier, context, next) {
  const parent = parentOf(context);
  if (!parent) return next(specifier, context);
  const own = ownResolution(specifier, parent);
  if (own) return own;
  try {
    return withAttributes(await next(specifier, context));
  } catch (error) {
    return instead(error);
  }
}
async function load(url, context, next) {
  const file = typeScriptAt(url);
  if (!file) return next(url, context);
  const { code, format } = javaScriptOf(file);
  return { format, source: format === "module" ? code : null, shortCircuit: true };
}
function changeRequire() {
  const loader = nodeModule.Module;
  const plain = loader._extensions[".js"];
  const value = (module, file) => {
    if (!isTypeScript(file)) return plain(module, file);
    const { code, format } = javaScriptOf(file);
    if (format === "module") throw Object.assign(new Error(`${file} is an ES module; import it instead of requiring it`), { code: "ERR_REQUIRE_ESM" });
    module._compile(code, file);
  };
  for (const ending of [".ts", ".mts", ".cts"]) Object.defineProperty(loader._extensions, ending, { value, configurable: true, writable: true });
  const before = loader._resolveFilename;
  loader._resolveFilename = function(request, parent, ...rest) {
    const file = parent?.filename;
    return file && isTypeScript(file) && resolveFrom(request, file) || before.call(this, request, parent, ...rest);
  };
}
function parentOf({ parentURL }) {
  return parentURL && typeScriptAt(parentURL);
}
function typeScriptAt(url) {
  if (!url.startsWith("file:")) return void 0;
  const file = fileURLToPath(url);
  return isTypeScript(file) ? file : void 0;
}
function ownResolution(specifier, parent) {
  const [, path = specifier, rest = ""] = /^(\.[^?#]*)([?#].*)?$/.exec(specifier) ?? [];
  const file = resolveFrom(path, parent);
  return file ? withAttributes({ url: pathToFileURL(file).href + rest, shortCircuit: true }) : void 0;
}
function withAttributes(resolved) {
  if (!/^file:[^?#]*\.json$/.test(resolved.url)) return resolved;
  return { ...resolved, format: "json", importAttributes: { type: "json" } };
}
function instead(error) {
  const { code, url } = error;
  const file = code === "ERR_MODULE_NOT_FOUND" && url?.startsWith("file:") ? fileOf(fileURLToPath(url)) : void 0;
  if (!file) throw error;
  return withAttributes({ url: pathToFileURL(file).href, shortCircuit: true });
}
function javaScriptOf(file) {
  if (statSync2(file).size > fileBytes) throw failed(`${file} has more than ${fileBytes / 1024 / 1024} MiB`);
  const { keepImports } = tsconfigOf(dirname3(file));
  const format = formatOf(file);
  const javaScript = translate(place, { file, text: readFileSync3(file, "utf8"), ...format && { format }, keepImports });
  if (javaScript.isMapped && isMainThread) enableSourceMaps();
  return javaScript;
}
export {
  beforeTypeScript,
  initialize,
  load,
  loadsTypeScript,
  provideTypeScript,
  resolve3 as resolve
};
