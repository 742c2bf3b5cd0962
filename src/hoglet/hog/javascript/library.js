// The helpers of printed programs: top-level functions, each copied into a
// program that calls it, with the helpers named in its text. Bodies are browser JavaScript without
// modules. Behaviour: docs/spec/hog-language.md#4-values, docs/spec/hog-language.md#5-semantics-of-operators, docs/spec/hog-language.md#6-scopes-closures-calls, docs/spec/hog-language.md#7-errors, docs/spec/hog-language.md#8-printing, docs/spec/hog-language.md#9-standard-library and docs/spec/hog-language.md#14-javascript.

function print(...values) { console.log(values.map((value) => __printHogStringOutput(value)).join(' ')) }
function __lambda(callback) { return callback }
function tuple(...items) { Object.defineProperty(items, '__isHogTuple', { value: true }); return items }
function __isTuple(value) { return Array.isArray(value) && value.__isHogTuple === true }
function __isObject(value) { return value !== null && typeof value === 'object' && !Array.isArray(value) }
function __isHogDate(value) { return __isObject(value) && value.__hogDate__ === true }
function __isHogDateTime(value) { return __isObject(value) && value.__hogDateTime__ === true }
function __isHogError(value) { return __isObject(value) && value.__hogError__ === true }
function __hasInside(value) { return __isObject(value) && !__isHogDate(value) && !__isHogDateTime(value) && !__isHogError(value) }
function __toHogDate(year, month, day) { return { __hogDate__: true, year, month, day } }
function __toHogDateTime(dt, zone = 'UTC') { return { __hogDateTime__: true, dt, zone } }
function __toHogInterval(value, unit) { return { __hogInterval__: true, value, unit } }
function __newHogError(type, message, payload) {
    const error = new Error(message || 'An error occurred')
    error.__hogError__ = true
    error.type = type || 'Error'
    error.payload = payload ?? null
    return error
}
function __x_Error(message, payload) { return __newHogError('Error', message, payload) }
function RetryError(message, payload) { return __newHogError('RetryError', message, payload) }
function NotImplementedError(message, payload) { return __newHogError('NotImplementedError', message, payload) }
function HogError(type, message, payload) { return __newHogError(type, message, payload) }
function __index(list, key) {
    if (key === 0) { throw new Error('Hog arrays start from index 1') }
    return key > 0 ? key - 1 : list.length + key
}
function __getProperty(object, key, nullish) {
    if (object === null || object === undefined || typeof object !== 'object') { return null }
    if (Array.isArray(object)) { return typeof key === 'number' ? object[__index(object, key)] ?? null : null }
    if (__isHogError(object)) { return ['type', 'message', 'payload'].includes(key) ? object[key] ?? null : null }
    return Object.prototype.hasOwnProperty.call(object, key) ? object[key] ?? null : null
}
function __setProperty(object, key, value) {
    if (object === null || typeof object !== 'object' || __isHogError(object)) {
        throw new Error(`Can not set ${key} on non-object: ${__x_typeof(object)}`)
    }
    if (Array.isArray(object)) {
        if (!Number.isInteger(key)) { throw new Error(`Can not set ${key} on element of type object`) }
        if (key < 1) { throw new Error('Hog arrays start from index 1') }
        while (object.length < key - 1) { object.push(null) }
        object[key - 1] = value
    } else {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    }
    return value
}
function __number(value) {
    if (__isHogDateTime(value)) { return value.dt }
    if (__isHogDate(value)) { return Date.UTC(value.year, value.month - 1, value.day) / 1000 }
    return value
}
function __unified(value, other) {
    if (__isHogDateTime(value) || __isHogDate(value)) { return __number(value) }
    if (typeof value === 'string' && (__isHogDateTime(other) || __isHogDate(other))) { return __parseDate(value)?.dt ?? value }
    return value
}
function __numbers(value) { return Array.isArray(value) && value.every(Number.isFinite) }
function __order(left, right) {
    if (left === null || left === undefined || right === null || right === undefined) { return null }
    if (!__numbers(left) || !__numbers(right)) { return [__unified(left, right), __unified(right, left)] }
    let at = 0
    while (at < left.length && at < right.length && left[at] === right[at]) { at += 1 }
    return at < left.length && at < right.length ? [left[at], right[at]] : [left.length, right.length]
}
function __lt(left, right) { if (typeof left === 'number' && typeof right === 'number') { return left < right } const pair = __order(left, right); return pair !== null && pair[0] < pair[1] }
function __lte(left, right) { if (typeof left === 'number' && typeof right === 'number') { return left <= right } const pair = __order(left, right); return pair !== null && pair[0] <= pair[1] }
function __gt(left, right) { if (typeof left === 'number' && typeof right === 'number') { return left > right } const pair = __order(left, right); return pair !== null && pair[0] > pair[1] }
function __gte(left, right) { if (typeof left === 'number' && typeof right === 'number') { return left >= right } const pair = __order(left, right); return pair !== null && pair[0] >= pair[1] }
function less(left, right) { return isNotNull(left) && isNotNull(right) && left < right }
function lessOrEquals(left, right) { return isNotNull(left) && isNotNull(right) && left <= right }
function greater(left, right) { return isNotNull(left) && isNotNull(right) && left > right }
function greaterOrEquals(left, right) { return isNotNull(left) && isNotNull(right) && left >= right }
function equals(left, right) { return left === right }
function notEquals(left, right) { return left !== right }
function not(value) { return !value }
function and(...values) { return values.every(Boolean) }
function or(...values) { return values.some(Boolean) }
function __x_if(condition, then, otherwise = null) { return condition ? then : otherwise }
function multiIf(...parts) {
    for (let at = 0; at + 1 < parts.length; at += 2) { if (parts[at]) { return parts[at + 1] } }
    return parts.length % 2 ? parts[parts.length - 1] : null
}
function ifNull(value, fallback) { return value ?? fallback }
function isNull(value) { return value === null || value === undefined }
function isNotNull(value) { return value !== null && value !== undefined }
function coalesce(...values) { return values.find((value) => value !== null && value !== undefined) ?? null }
function assumeNotNull(value) {
    if (value === null || value === undefined) { throw new Error('Value is null in assumeNotNull') }
    return value
}
function plus(left, right) {
    const [first, second] = [left, right].map((value) => (isNull(value) ? null : typeof value === 'object' || typeof value === 'function' ? __plainText(value) : value))
    return first + second
}
function minus(left, right) { return left - right }
function min2(left, right) { return isNull(left) || isNull(right) ? null : left < right ? left : right }
function max2(left, right) { return isNull(left) || isNull(right) ? null : left > right ? left : right }
function floor(value) { return Math.floor(value) }
function round(value) { return Math.round(value) }
function randomFloat() { return Math.random() }
function __x_typeof(value) {
    if (value === null || value === undefined) { return 'null' }
    if (__isHogDateTime(value)) { return 'datetime' }
    if (__isHogDate(value)) { return 'date' }
    if (__isHogError(value)) { return 'error' }
    if (typeof value === 'function') { return 'function' }
    if (Array.isArray(value)) { return __isTuple(value) ? 'tuple' : 'array' }
    if (typeof value === 'object') { return value.__hx_ast ? 'sql' : 'object' }
    if (typeof value === 'number') { return Number.isInteger(value) ? 'integer' : 'float' }
    return { string: 'string', boolean: 'boolean' }[typeof value] ?? 'unknown'
}
function __escapeCharacters(text, quote) {
    const escapes = { '\b': '\\b', '\f': '\\f', '\r': '\\r', '\n': '\\n', '\t': '\\t', '\0': '\\0', '\v': '\\v', '\\': '\\\\', [quote]: '\\' + quote }
    return quote + Array.from(text, (character) => escapes[character] ?? character).join('') + quote
}
function __escapeString(text) { return __escapeCharacters(text, "'") }
function __escapeIdentifier(name) {
    if (typeof name === 'number') { return String(name) }
    return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : '`' + name.replaceAll('\\', '\\\\').replaceAll('`', '``') + '`'
}
function __printSql(value) {
    if (Array.isArray(value)) { return value.map(__printSql).join(', ') }
    if (!__isObject(value) || !value.__hx_ast) { return __printHogValue(value) }
    const names = { '+': 'plus', '-': 'minus', '*': 'multiply', '/': 'divide', '%': 'modulo', '==': 'equals', '!=': 'notEquals', '<': 'less', '<=': 'lessOrEquals', '>': 'greater', '>=': 'greaterOrEquals' }
    switch (value.__hx_ast) {
        case 'Constant': return __printHogValue(value.value ?? null)
        case 'Field': return value.chain.map(__escapeIdentifier).join('.')
        case 'Call': return `${value.name}(${__printSql(value.args)})`
        case 'And': return `and(${__printSql(value.exprs)})`
        case 'Or': return `or(${__printSql(value.exprs)})`
        case 'Not': return `not(${__printSql(value.expr)})`
        case 'ArithmeticOperation':
        case 'CompareOperation': return `${names[value.op] ?? value.op}(${__printSql(value.left)}, ${__printSql(value.right)})`
        default: return value.__hx_ast
    }
}
function __printHogValue(value, path = []) {
    if (value === null || value === undefined) { return 'null' }
    if (typeof value === 'string') { return __escapeString(value) }
    if (typeof value === 'number') { return Object.is(value, -0) ? '0' : String(value) }
    if (typeof value === 'boolean') { return String(value) }
    if (typeof value === 'function') { return `fn<${__escapeIdentifier(value.name || 'lambda')}(${value.length})>` }
    if (path.includes(value)) { return 'null' }
    const inner = (item) => __printHogValue(item, [...path, value])
    if (__isHogDateTime(value)) { return `DateTime(${value.dt}${String(value.dt).includes('.') ? '' : '.0'}, ${__escapeString(value.zone)})` }
    if (__isHogDate(value)) { return `Date(${value.year}, ${value.month}, ${value.day})` }
    if (__isHogError(value)) { return `${value.type}(${__escapeString(value.message)}${value.payload ? ', ' + inner(value.payload) : ''})` }
    if (__isTuple(value)) { return value.length < 2 ? `tuple(${value.map(inner).join(', ')})` : `(${value.map(inner).join(', ')})` }
    if (Array.isArray(value)) { return `[${value.map(inner).join(', ')}]` }
    if (value.__hx_ast) { return `sql(${__printSql(value)})` }
    return `{${Object.entries(value).map(([key, item]) => `${__escapeString(key)}: ${inner(item)}`).join(', ')}}`
}
function __printHogStringOutput(value) { return typeof value === 'string' ? value : __printHogValue(value) }
function __scalarText(value) { return ['string', 'number', 'boolean'].includes(typeof value) ? __STLToString(value) : null }
function __plainText(value) {
    return Array.isArray(value) ? value.map((item) => (isNull(item) ? '' : __plainText(item))).join(',') : __STLToString(value)
}
function __refuse(argument, wanted, value) { throw new Error(`The argument ${argument} must be ${wanted}, not ${__x_typeof(value)}`) }
function __pad(number, width) { return String(number).padStart(width, '0') }
function __zoneOffset(seconds, zone) {
    if (!zone || zone === 'UTC') { return 0 }
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' }).formatToParts(new Date(seconds * 1000))
    const part = (type) => Number(parts.find((found) => found.type === type).value)
    const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
    return Math.round((local - Math.floor(seconds) * 1000) / 60000)
}
function __offsetText(minutes, colon) {
    const absolute = Math.abs(minutes)
    return `${minutes < 0 ? '-' : '+'}${__pad(Math.floor(absolute / 60), 2)}${colon}${__pad(absolute % 60, 2)}`
}
function __DateTimeToString(value) {
    if (__isHogDate(value)) { return `${__pad(value.year, 4)}-${__pad(value.month, 2)}-${__pad(value.day, 2)}` }
    const offset = __zoneOffset(value.dt, value.zone)
    const text = new Date(Math.round(value.dt * 1000) + offset * 60000).toISOString()
    return value.zone === 'UTC' ? text : text.slice(0, -1) + __offsetText(offset, ':')
}
function __STLToString(value) {
    if (__isHogDate(value) || __isHogDateTime(value)) { return __DateTimeToString(value) }
    return __printHogStringOutput(value)
}
function toString(value) { return __STLToString(value) }
function toUUID(value) { return __STLToString(value) }
function concat(...values) { return values.map((value) => (value === null || value === undefined ? '' : __STLToString(value))).join('') }
function toInt(value) {
    if (__isHogDateTime(value)) { return Math.floor(value.dt) }
    if (__isHogDate(value)) { return Math.floor(__number(value) / 86400) }
    const found = isNull(value) ? NaN : parseInt(__plainText(value))
    return Number.isNaN(found) ? null : found
}
function toFloat(value) {
    if (__isHogDateTime(value)) { return value.dt }
    if (__isHogDate(value)) { return toInt(value) }
    const found = isNull(value) ? NaN : parseFloat(__plainText(value))
    return Number.isNaN(found) ? null : found
}
function length(value) { return typeof value === 'string' || Array.isArray(value) ? value.length : null }
function lower(value) { return isNull(value) ? null : value.toLowerCase() }
function upper(value) { return isNull(value) ? null : value.toUpperCase() }
function reverse(value) { return isNull(value) ? null : value.split('').reverse().join('') }
function __trimmed(text, character, left, right) {
    if (isNull(text)) { return null }
    if (typeof character !== 'string' || character.length !== 1) { return '' }
    if (typeof text !== 'string') { __refuse('text', 'a string', text) }
    let start = 0
    let end = text.length
    while (left && start < end && text[start] === character) { start += 1 }
    while (right && end > start && text[end - 1] === character) { end -= 1 }
    return text.slice(start, end)
}
function trim(text, character) { return __trimmed(text, character ?? ' ', true, true) }
function trimLeft(text, character) { return __trimmed(text, character ?? ' ', true, false) }
function trimRight(text, character) { return __trimmed(text, character ?? ' ', false, true) }
function splitByString(separator, text, max) { return isNull(text) ? null : text.split(isNull(separator) ? undefined : __plainText(separator), max ?? undefined) }
function replaceOne(text, from, to) { return isNull(text) ? null : text.replace(__plainText(from), () => __plainText(to)) }
function replaceAll(text, from, to) { return isNull(text) ? null : text.replaceAll(__plainText(from), () => __plainText(to)) }
function position(text, part) { return typeof text === 'string' ? text.indexOf(__plainText(part)) + 1 : 0 }
function positionCaseInsensitive(text, part) { return typeof text === 'string' ? text.toLowerCase().indexOf(__plainText(part).toLowerCase()) + 1 : 0 }
function substring(text, start, count) {
    if (isNull(text)) { return null }
    if (typeof text !== 'string') { return '' }
    const first = Number(start) - 1
    const size = typeof count === 'number' ? count : text.length
    return first >= 0 && size >= 1 ? text.slice(first, first + size) : ''
}
function startsWith(text, part) { return typeof text === 'string' && typeof part === 'string' && text.startsWith(part) }
function __like(text, pattern, ignoreCase = false) {
    if (__scalarText(text) === null || __scalarText(pattern) === null) { return false }
    const source = __scalarText(pattern).replace(/[.*+?^${}()|[\]\\\/-]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')
    return new RegExp(source, ignoreCase ? 'i' : '').test(__scalarText(text))
}
function like(text, pattern) { return __like(text, pattern) }
function ilike(text, pattern) { return __like(text, pattern, true) }
function notLike(text, pattern) { return !__like(text, pattern) }
function notILike(text, pattern) { return !__like(text, pattern, true) }
function __expression(pattern, ignoreCase) {
    // RE2 to RegExp: rejects what RE2 rejects and translates other spellings; flags in
    // the middle of a pattern need a browser that supports (?i:...).
    const refuse = (what) => { throw new Error(`Invalid regular expression: ${what}`) }
    const space = '\\t\\n\\f\\r '
    const classes = { alnum: 'a-zA-Z0-9', alpha: 'a-zA-Z', ascii: '\\x00-\\x7F', blank: '\\t ', cntrl: '\\x00-\\x1F\\x7F', digit: '0-9', graph: '!-~', lower: 'a-z', print: ' -~', punct: '!-\\/:-@\\[-`\\{-~', space: '\\t\\n\\v\\f\\r ', upper: 'A-Z', word: '\\w', xdigit: '0-9a-fA-F' }
    const head = /^\(\?([ims]+)\)/.exec(pattern)
    const flags = new Set((head ? head[1] : '') + (ignoreCase ? 'i' : '') + 'u')
    const tokens = /\\Q([\s\S]*?)(?:\\E|$)|\\x\{([0-9A-Fa-f]+)\}|\\([pP])(?:\{(\^?)(\w+)\}|(\w))|\\([\s\S]?)|\[:(\^?)(\w+):\]|\(\?P<|\(\?([imsU-]+)([:)])|\(\?[=!]|\(\?<[=!]|\{\d+(?:,\d*)?\}|[\s\S]/gu
    const open = [0]
    let inside = -1
    const escaped = (letter) => {
        if (/[1-9k]/.test(letter)) { refuse(`\\${letter}`) }
        if (letter === 's') { return inside >= 0 ? space : `[${space}]` }
        if (letter === 'S' && inside < 0) { return `[^${space}]` }
        const special = { A: '(?<![\\s\\S])', z: '(?![\\s\\S])', a: '\\x07' }[letter]
        if (special) { return special }
        if (/[A-Za-z0-9]/.test(letter)) { return '\\' + letter }
        return /[\^$\\.*+?()[\]{}|/]/.test(letter) || (inside >= 0 && letter === '-') ? '\\' + letter : letter || refuse('trailing \\')
    }
    const each = (token, quoted, code, kind, inverse, long, short, letter, outside, name, inline, after, at, whole) => {
        if (quoted !== undefined) { return quoted.replace(/[\^$\\.*+?()[\]{}|/-]/g, (part) => escaped(part)) }
        if (code) { return `\\u{${code}}` }
        if (kind) { return `\\${inverse ? (kind === 'p' ? 'P' : 'p') : kind}{${short ?? (long.length > 2 ? 'Script=' + long : long)}}` }
        if (letter !== undefined) { return escaped(letter) }
        if (inside >= 0) {
            if (name) { return outside ? refuse(token) : classes[name] ?? refuse(token) }
            if (token === ']' && at > inside + (whole[inside + 1] === '^' ? 2 : 1)) { inside = -1; return token }
            return token === ']' || token === '[' ? '\\' + token : token
        }
        if (token === '(?P<') { open.push(0); return '(?<' }
        if (inline) {
            if (inline.includes('U')) { refuse(token) }
            if (after === ')') { open[open.length - 1] += 1 } else { open.push(0) }
            return `(?${inline}:`
        }
        if (/^\(\?<?[=!]/.test(token)) { refuse(token) }
        if (token === '(') { open.push(0) }
        if (token === ')') { return ')'.repeat((open.length > 1 ? open.pop() : 0) + 1) }
        if (token === '[') { inside = at }
        if (token === '.') { return flags.has('s') ? '[\\s\\S]' : '[^\\n]' }
        return /^[\]{}]$/.test(token) ? '\\' + token : token
    }
    const source = pattern.slice(head ? head[0].length : 0).replace(tokens, (...found) => each(...found.slice(0, 14)))
    return new RegExp(source + ')'.repeat(open[0]), [...flags].join(''))
}
function __match(text, pattern, ignoreCase) {
    const [source, expression] = [text && __scalarText(text), pattern && __scalarText(pattern)]
    return Boolean(source && expression) && __expression(expression, ignoreCase).test(source)
}
function match(text, pattern) { return __match(text, pattern, false) }
function __imatch(text, pattern) { return __match(text, pattern, true) }
function extractRegex(text, pattern) {
    if (isNull(text)) { return null }
    const [source, expression] = [__scalarText(text), __scalarText(pattern)]
    if (source === null) { throw new Error(`extractRegex: the argument text must be a string, not ${__x_typeof(text)}`) }
    const found = expression ? source.match(__expression(expression, false)) : null
    return found ? (found.length > 1 ? found[1] : found[0]) ?? '' : ''
}
function multiSearchAnyCaseInsensitive(text, parts) {
    if (__scalarText(text) === null || !Array.isArray(parts)) { return 0 }
    const lowered = __scalarText(text).toLowerCase()
    return parts.some((part) => lowered.includes(__STLToString(part).toLowerCase())) ? 1 : 0
}
function __bytes(text) { return typeof text === 'string' ? new TextEncoder().encode(text) : __refuse('text', 'a string', text) }
function base64Encode(text) { return isNull(text) ? null : btoa(Array.from(__bytes(text), (byte) => String.fromCharCode(byte)).join('')) }
function base64Decode(text) {
    if (isNull(text)) { return null }
    const digits = text.split('=')[0].replaceAll('-', '+').replaceAll('_', '/').replace(/[^A-Za-z0-9+/]/g, '')
    const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(atob(whole), (character) => character.charCodeAt(0)))
}
function tryBase64Decode(text) { return typeof text === 'string' ? base64Decode(text) : null }
function encodeURLComponent(text) { return isNull(text) ? null : encodeURIComponent(__plainText(text)) }
function decodeURLComponent(text) { return isNull(text) ? null : decodeURIComponent(__plainText(text)) }
function tryDecodeURLComponent(text) { try { return decodeURLComponent(text) } catch { return null } }
function generateUUIDv4() {
    return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => (Number(digit) ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (Number(digit) / 4)))).toString(16))
}
function __plainJson(value, path = []) {
    if (value === null || value === undefined) { return null }
    if (typeof value === 'function') { return __printHogValue(value) }
    if (typeof value !== 'object') { return value }
    if (path.includes(value)) { return null }
    const inner = (item) => __plainJson(item, [...path, value])
    if (Array.isArray(value)) { return value.map(inner) }
    if (__isHogError(value)) { return { __hogError__: true, type: value.type, message: value.message, payload: isNull(value.payload) ? undefined : inner(value.payload) } }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]))
}
function jsonStringify(value, spacing = 0) { return JSON.stringify(__plainJson(value), null, typeof spacing === 'number' && spacing >= 1 ? spacing : undefined) }
function __revive(value) {
    if (Array.isArray(value)) { return value.map(__revive) }
    if (!__isObject(value)) { return value }
    if (value.__hogError__) { return __newHogError(value.type, value.message, __revive(value.payload)) }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, __revive(item)]))
}
function jsonParse(text) { return isNull(text) ? null : __revive(JSON.parse(__plainText(text))) }
function isValidJSON(text) { try { JSON.parse(__plainText(text)); return true } catch { return false } }
function __jsonParsed(value) { try { return typeof value === 'string' ? JSON.parse(value) : value } catch { return undefined } }
function __jsonAt(source, path, parse = false) {
    let value = __jsonParsed(source)
    for (const step of path) {
        if (parse) { value = __jsonParsed(value) }
        if (isNull(value) || typeof value !== 'object') { return undefined }
        if (Array.isArray(value)) {
            value = typeof step === 'number' && step !== 0 ? value[step > 0 ? step - 1 : value.length + step] : undefined
        } else {
            value = typeof step !== 'object' && Object.prototype.hasOwnProperty.call(value, step) ? value[step] : undefined
        }
        if (value === undefined) { return undefined }
    }
    return value
}
function __jsonInside(source, path) { const value = __jsonParsed(source); return Array.isArray(value) || __hasInside(value) ? __jsonAt(source, path) : undefined }
function JSONHas(source, ...path) { return isNotNull(source) && __jsonAt(source, path, true) !== undefined }
function JSONLength(source, ...path) {
    const found = __jsonAt(source, path)
    return Array.isArray(found) ? found.length : __hasInside(found) ? Object.keys(found).length : 0
}
function JSONExtractBool(source, ...path) { return __jsonAt(source, path) === true }
function JSONExtractInt(source, ...path) { return toInt(__jsonInside(source, path)) }
function JSONExtractFloat(source, ...path) { return toFloat(__jsonInside(source, path)) }
function JSONExtractString(source, ...path) {
    const found = __jsonInside(source, path)
    if (isNull(found)) { return null }
    return Array.isArray(found) || __x_typeof(found) === 'object' ? jsonStringify(found) : __STLToString(found)
}
function JSONExtractArrayRaw(source, ...path) {
    const found = __jsonAt(source, path)
    return Array.isArray(found) ? found : null
}
function JSONExtract(source, ...path) { return __jsonInside(source, path.slice(0, -1)) ?? null }
function keys(value) { return Array.isArray(value) ? value.map((_, index) => index) : __hasInside(value) ? Object.keys(value) : [] }
function values(value) { return Array.isArray(value) ? [...value] : __hasInside(value) ? Object.values(value) : [] }
function empty(value) {
    if (value === null || value === undefined || value === '') { return true }
    if (typeof value !== 'object') { return false }
    return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
function notEmpty(value) { return !empty(value) }
function has(list, item) { return Array.isArray(list) && list.includes(item) }
function __x_in(item, list) { return has(list, item) }
function indexOf(list, item) { return Array.isArray(list) ? list.indexOf(item) + 1 : 0 }
function arrayPushBack(list, item) { return Array.isArray(list) ? [...list, item] : [item] }
function arrayPushFront(list, item) { return Array.isArray(list) ? [item, ...list] : [item] }
function arrayPopBack(list) { return Array.isArray(list) ? list.slice(0, -1) : [] }
function arrayPopFront(list) { return Array.isArray(list) ? list.slice(1) : [] }
function arraySort(list) {
    if (!Array.isArray(list)) { return [] }
    if (list.every((item) => typeof item === 'number')) { return [...list].sort((left, right) => left - right) }
    const text = (item) => __printHogStringOutput(item)
    return [...list].sort((left, right) => (text(left) < text(right) ? -1 : text(left) > text(right) ? 1 : 0))
}
function arrayReverse(list) { return Array.isArray(list) ? [...list].reverse() : [] }
function arrayReverseSort(list) { return arraySort(list).reverse() }
function arrayStringConcat(list, separator) { return Array.isArray(list) ? list.map((item) => (isNull(item) ? '' : __plainText(item))).join(isNull(separator) ? '' : __plainText(separator)) : '' }
function range(from, to) {
    const [start, end] = to === undefined ? [0, Number(from)] : [Number(from), Number(to)]
    return Array.from({ length: Math.max(0, end - start) || 0 }, (_, index) => start + index)
}
function arrayMap(callback, list) { return values(list).map((item) => callback(item)) }
function arrayFilter(callback, list) { return values(list).filter((item) => callback(item)) }
function arrayExists(callback, list) { return values(list).some((item) => callback(item)) }
function arrayCount(callback, list) { return arrayFilter(callback, list).length }
function arrayReduce(callback, list, start) { return values(list).reduce((total, item) => callback(total, item), start) }
function now() { return __toHogDateTime(Date.now() / 1000) }
function today() { const day = new Date(); return __toHogDate(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()) }
function __parseDate(text, zone = 'UTC') {
    const found = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(text.trim())
    if (!found) { return null }
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = found
    const instant = new Date(Date.UTC(2000, 0, 1, hour, minute, second, fraction.padEnd(3, '0').slice(0, 3)))
    instant.setUTCFullYear(Number(year), month - 1, day)
    if (instant.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59 || Number(year) < 1) { return null }
    const seconds = instant.getTime() / 1000
    if (!offset) { return __fromLocal(seconds, zone) }
    if (/z/i.test(offset)) { return __toHogDateTime(seconds, zone) }
    const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
    const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))]
    const shift = hours * 3600 + minutes * 60
    return hours > 23 || minutes > 59 ? null : __toHogDateTime(seconds - (offset[0] === '-' ? -shift : shift), zone)
}
function __fromLocal(seconds, zone) {
    const before = __zoneOffset(seconds - 86400, zone) * 60
    const found = [before, __zoneOffset(seconds + 86400, zone) * 60].find((offset) => __zoneOffset(seconds - offset, zone) * 60 === offset)
    return __toHogDateTime(seconds - (found ?? before), zone)
}
function __zone(zone) {
    if (isNull(zone) || zone === '') { return 'UTC' }
    if (typeof zone !== 'string') { __refuse('zone', 'a string', zone) }
    try { new Intl.DateTimeFormat('en-US', { timeZone: zone }) } catch { throw new Error(`Unknown time zone: ${zone}`) }
    return zone
}
function toDateTime(value, zone) {
    if (__isHogDateTime(value)) { return value }
    zone = __zone(zone)
    if (__isHogDate(value)) { return __toHogDateTime(__number(value), zone) }
    if (typeof value === 'string') { return __parseDate(value, zone) }
    return Number.isFinite(value) ? __toHogDateTime(value, zone) : null
}
function __moment(value) {
    if (isNull(value) || typeof value === 'string' || __isHogDate(value) || __isHogDateTime(value)) { return toDateTime(value) }
    return __refuse('date', 'a Date or DateTime', value)
}
function toDate(value) {
    if (__isHogDate(value)) { return value }
    const instant = toDateTime(value)
    const day = instant && new Date(instant.dt * 1000)
    const year = day && day.getUTCFullYear()
    return year >= 1 && year <= 9999 ? __toHogDate(year, day.getUTCMonth() + 1, day.getUTCDate()) : null
}
function fromUnixTimestamp(value) { return typeof value === 'object' || !Number.isFinite(Number(value)) ? null : __toHogDateTime(Number(value)) }
function fromUnixTimestampMilli(value) { return typeof value === 'object' || !Number.isFinite(Number(value)) ? null : __toHogDateTime(Number(value) / 1000) }
function toUnixTimestamp(value, zone) {
    if (isNull(value)) { return null }
    const [name, instant] = [__zone(zone), toDateTime(value, zone)]
    return name && instant && instant.dt
}
function toUnixTimestampMilli(value, zone) { const seconds = toUnixTimestamp(value, zone); return isNull(seconds) ? null : Math.round(seconds * 1000) }
function toTimeZone(value, zone) {
    if (isNull(value)) { return null }
    if (!__isHogDateTime(value)) { throw new Error('Expected a DateTime') }
    return __toHogDateTime(value.dt, __zone(zone))
}
function __local(value) {
    const instant = __moment(value)
    return instant && new Date(Math.floor(instant.dt * 1000 + 0.0005) + __zoneOffset(instant.dt, instant.zone) * 60000)
}
function toYear(value) { const day = __local(value); return day && day.getUTCFullYear() }
function toMonth(value) { const day = __local(value); return day && day.getUTCMonth() + 1 }
function toYYYYMM(value) { const day = __local(value); return day && day.getUTCFullYear() * 100 + day.getUTCMonth() + 1 }
function extract(part, value) {
    part = typeof part === 'string' ? part.toLowerCase() : ''
    if (!['year', 'month', 'day', 'hour', 'minute', 'second'].includes(part)) { throw new Error(`Unknown extract part: ${part}`) }
    const day = __local(value)
    if (!day) { return null }
    const parts = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate(), hour: day.getUTCHours(), minute: day.getUTCMinutes(), second: day.getUTCSeconds() }
    return parts[part]
}
function __startOf(unit, instant) {
    const day = instant && __local(instant)
    if (!day) { return null }
    const at = ['year', 'month', 'day', 'hour', 'minute'].indexOf(unit)
    if (at < 1) { day.setUTCMonth(0, 1) }
    if (at === 1) { day.setUTCDate(1) }
    day.setUTCHours(...[day.getUTCHours(), day.getUTCMinutes(), 0, 0].map((part, index) => (index > at - 3 ? 0 : part)))
    return __fromLocal(day.getTime() / 1000, instant.zone)
}
function dateTrunc(unit, value) {
    if (isNull(value)) { return null }
    if (!__isHogDateTime(value)) { throw new Error('Expected a DateTime for dateTrunc') }
    if (!['year', 'month', 'day', 'hour', 'minute'].includes(unit)) { throw new Error(`Unsupported unit for dateTrunc: ${unit}`) }
    return __startOf(unit, value)
}
function toStartOfDay(value) { return __startOf('day', __moment(value)) }
function toStartOfHour(value) { return __startOf('hour', __moment(value)) }
function toStartOfMonth(value) { return __startOf('month', __moment(value)) }
function toStartOfWeek(value) {
    const start = __startOf('day', __moment(value))
    return start && __shifted(start, (day) => day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7)))
}
function __shifted(instant, change) {
    const day = __local(instant)
    change(day)
    return __fromLocal(day.getTime() / 1000, instant.zone)
}
function dateAdd(unit, count, value) {
    if (isNull(value)) { return null }
    const seconds = { second: 1, minute: 60, hour: 3600 }
    const days = { day: 1, week: 7 }
    const months = { month: 1, year: 12 }
    if (!(unit in seconds) && !(unit in days) && !(unit in months)) { throw new Error(`Unsupported interval unit: ${unit}`) }
    if (!__isHogDateTime(value) && !__isHogDate(value)) { throw new Error(`dateAdd: the argument date must be a Date or DateTime, not ${__x_typeof(value)}`) }
    const instant = toDateTime(value)
    if (typeof count === 'boolean' || count === '' || !Number.isFinite(Number(count))) { throw new Error(`dateAdd: the argument count must be a finite number, not ${__x_typeof(count)}`) }
    const amount = Number(count) * (seconds[unit] ?? days[unit] ?? months[unit])
    const whole = Math.trunc(amount)
    const move = (day) => {
        const date = day.getUTCDate()
        if (unit in days) { day.setUTCDate(date + whole); return }
        day.setUTCDate(1)
        day.setUTCMonth(day.getUTCMonth() + whole)
        const last = new Date(day.getTime())
        last.setUTCMonth(last.getUTCMonth() + 1, 0)
        day.setUTCDate(Math.min(date, last.getUTCDate()))
    }
    const moved = unit in seconds ? __toHogDateTime(instant.dt + whole, instant.zone) : __shifted(instant, move)
    const part = (amount - whole) * (unit in seconds ? 1 : unit in days ? 86400 : 30 * 86400)
    const result = part ? __toHogDateTime(Math.floor((moved.dt + part) * 1000 + 0.5) / 1000, moved.zone) : moved
    return __isHogDate(value) ? toDate(result) : result
}
function addDays(value, count) { return dateAdd('day', count, value) }
function dateDiff(unit, from, to) {
    const seconds = { second: 1, minute: 60, hour: 3600, day: 86400 }
    if (!(unit in seconds) && !['week', 'month', 'year'].includes(unit)) { throw new Error(`Unsupported unit for dateDiff: ${unit}`) }
    const [start, end] = [__moment(from), __moment(to)]
    if (!start || !end) { return null }
    if (unit in seconds) { return Math.floor((end.dt - start.dt) / seconds[unit]) }
    if (unit === 'week') { return Math.floor(Math.floor((end.dt - start.dt) / 86400) / 7) }
    if (unit === 'month') { return (toYear(end) - toYear(start)) * 12 + toMonth(end) - toMonth(start) }
    return toYear(end) - toYear(start)
}
function toIntervalDay(value) { return __toHogInterval(value, 'day') }
function toIntervalHour(value) { return __toHogInterval(value, 'hour') }
function toIntervalMinute(value) { return __toHogInterval(value, 'minute') }
function toIntervalMonth(value) { return __toHogInterval(value, 'month') }
function __isoWeek(day) {
    const thursday = new Date(day)
    thursday.setUTCHours(0, 0, 0, 0)
    thursday.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
    const first = new Date(thursday)
    first.setUTCMonth(0, 1)
    return Math.floor((thursday - first) / 604800000) + 1
}
function formatDateTime(value, format, zone) {
    if (isNull(value)) { return null }
    if (!__isHogDateTime(value) && !__isHogDate(value)) { throw new Error('Expected a DateTime') }
    const instant = toDateTime(value)
    const place = isNull(zone) || zone === '' ? instant.zone : __zone(zone)
    const offset = __zoneOffset(instant.dt, place)
    const day = new Date(Math.floor(instant.dt * 1000 + 0.0005) + offset * 60000)
    const names = (width, part) => day.toLocaleString('en-US', { timeZone: 'UTC', [part]: width })
    const [year, month, date, hour] = [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate(), day.getUTCHours()]
    const [minute, second] = [__pad(day.getUTCMinutes(), 2), __pad(day.getUTCSeconds(), 2)]
    const [half, hour12] = [hour < 12 ? 'AM' : 'PM', __pad(hour % 12 || 12, 2)]
    const weekday = String(day.getUTCDay() || 7)
    const letters = {
        a: names('short', 'weekday'), W: names('long', 'weekday'), b: names('short', 'month'), M: names('long', 'month'),
        c: __pad(month, 2), m: __pad(month, 2), d: __pad(date, 2), e: String(date),
        j: __pad(Math.floor((Date.UTC(year, month - 1, date) - Date.UTC(year, 0, 1)) / 86400000) + 1, 3),
        C: __pad(year % 100, 2), y: __pad(year % 100, 2), g: __pad(year % 100, 2), G: __pad(year, 4), Y: __pad(year, 4), V: __pad(__isoWeek(day), 2),
        D: `${__pad(month, 2)}/${__pad(date, 2)}/${__pad(year % 100, 2)}`, F: `${__pad(year, 4)}-${__pad(month, 2)}-${__pad(date, 2)}`, u: weekday, w: weekday,
        H: __pad(hour, 2), k: __pad(hour, 2), h: hour12, I: hour12, l: hour12, p: half, i: minute, s: second, S: second, f: __pad(day.getUTCMilliseconds(), 3),
        R: `${__pad(hour, 2)}:${minute}`, T: `${__pad(hour, 2)}:${minute}:${second}`, r: `${hour12}:${minute} ${half}`, z: __offsetText(offset, ''), n: '\n', t: '\t', '%': '%',
    }
    return typeof format === 'string' ? format.replace(/%([\s\S]?)/g, (_, letter) => letters[letter] ?? '') : ''
}
function isIPAddressInRange(address, range) {
    const parse = (text) => {
        if (typeof text !== 'string') { return null }
        if (/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){3}$/.test(text)) { // a leading zero may mean octal
            const parts = text.split('.').map(Number)
            return parts.every((part) => part < 256) ? [parts.reduce((total, part) => total * 256n + BigInt(part), 0n), 32] : null
        }
        if (!/^[0-9a-f:]+$/i.test(text) || text.split('::').length > 2) { return null }
        const [head, tail] = text.split('::').map((side) => (side ? side.split(':') : []))
        const fill = tail === undefined ? [] : ['0', ...Array(7 - head.length - tail.length).fill('0')]
        const groups = [...head, ...fill, ...(tail ?? [])]
        return groups.length === 8 && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? [groups.reduce((total, group) => total * 65536n + BigInt('0x' + group), 0n), 128] : null
    }
    try {
        const [base, bits, more] = String(range).split('/')
        const [left, right] = [parse(address), parse(base)]
        if (more !== undefined || !left || !right || left[1] !== right[1] || !/^\d+$/.test(bits) || Number(bits) > right[1]) { return false }
        const shift = BigInt(right[1] - Number(bits))
        return left[0] >> shift === right[0] >> shift
    } catch { return false }
}
function sortableSemver(text) {
    if (isNull(text)) { return null }
    if (__isHogError(text) || __hasInside(text)) { return [] }
    const found = /\d+(\.\d+)+/.exec(__STLToString(text))
    return found ? found[0].split('.').map(Number) : []
}
function __cohort(list) {
    if (isNull(list)) { throw __newHogError('Error', 'Cohort membership is not loaded', null) }
    return values(list)
}
function inCohort(cohort, list) { const cohorts = __cohort(list); return cohorts.includes(cohort) || cohorts.some((item) => Number(item) === Number(cohort)) }
function notInCohort(cohort, list) { return !inCohort(cohort, list) }
function __padded(bytes, bigEndian) {
    const size = Math.ceil((bytes.length + 9) / 64) * 64
    const padded = new Uint8Array(size)
    padded.set(bytes)
    padded[bytes.length] = 0x80
    const view = new DataView(padded.buffer)
    const bits = bytes.length * 8
    view.setUint32(bigEndian ? size - 4 : size - 8, bits >>> 0, !bigEndian)
    view.setUint32(bigEndian ? size - 8 : size - 4, Math.floor(bits / 4294967296), !bigEndian)
    return view
}
function __wordBytes(words, bigEndian) {
    const view = new DataView(new ArrayBuffer(words.length * 4))
    words.forEach((word, index) => view.setUint32(index * 4, word >>> 0, !bigEndian))
    return new Uint8Array(view.buffer)
}
function __turnLeft(word, count) { return (word << count) | (word >>> (32 - count)) }
function __primeFractions(count, root) {
    const fractions = []
    for (let candidate = 2; fractions.length < count; candidate += 1) {
        let prime = true
        for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) { if (candidate % divisor === 0) { prime = false } }
        if (prime) { fractions.push(((candidate ** (1 / root)) % 1) * 4294967296 | 0) }
    }
    return fractions
}
function __sha256(bytes) {
    const view = __padded(bytes, true)
    const constants = __primeFractions(64, 3)
    const state = __primeFractions(8, 2)
    for (let block = 0; block < view.byteLength; block += 64) {
        const words = Array.from({ length: 16 }, (_, index) => view.getInt32(block + index * 4))
        for (let index = 16; index < 64; index += 1) {
            const [early, late] = [words[index - 15], words[index - 2]]
            const first = __turnLeft(early, 25) ^ __turnLeft(early, 14) ^ (early >>> 3)
            const second = __turnLeft(late, 15) ^ __turnLeft(late, 13) ^ (late >>> 10)
            words.push((words[index - 16] + first + words[index - 7] + second) | 0)
        }
        let [a, b, c, d, e, f, g, h] = state
        for (let index = 0; index < 64; index += 1) {
            const mixed = __turnLeft(e, 26) ^ __turnLeft(e, 21) ^ __turnLeft(e, 7)
            const first = (h + mixed + ((e & f) ^ (~e & g)) + constants[index] + words[index]) | 0
            const second = ((__turnLeft(a, 30) ^ __turnLeft(a, 19) ^ __turnLeft(a, 10)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
            ;[a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g]
        }
        ;[a, b, c, d, e, f, g, h].forEach((value, index) => { state[index] = (state[index] + value) | 0 })
    }
    return __wordBytes(state, true)
}
function __sha1(bytes) {
    const view = __padded(bytes, true)
    const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
    const constants = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]
    for (let block = 0; block < view.byteLength; block += 64) {
        const words = Array.from({ length: 16 }, (_, index) => view.getInt32(block + index * 4))
        for (let index = 16; index < 80; index += 1) {
            words.push(__turnLeft(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        let [a, b, c, d, e] = state
        for (let index = 0; index < 80; index += 1) {
            const part = Math.floor(index / 20)
            const mixed = [(b & c) | (~b & d), b ^ c ^ d, (b & c) | (b & d) | (c & d), b ^ c ^ d][part]
            ;[a, b, c, d, e] = [(__turnLeft(a, 5) + mixed + e + constants[part] + words[index]) | 0, a, __turnLeft(b, 30), c, d]
        }
        ;[a, b, c, d, e].forEach((value, index) => { state[index] = (state[index] + value) | 0 })
    }
    return __wordBytes(state, true)
}
function __md5(bytes) {
    const view = __padded(bytes, false)
    const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
    const turns = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
    for (let block = 0; block < view.byteLength; block += 64) {
        let [a, b, c, d] = state
        for (let index = 0; index < 64; index += 1) {
            const part = index >> 4
            const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][part]
            const place = [index, 5 * index + 1, 3 * index + 5, 7 * index][part] % 16
            const constant = Math.floor(Math.abs(Math.sin(index + 1)) * 4294967296)
            const sum = (a + mixed + constant + view.getInt32(block + place * 4, true)) | 0
            ;[a, b, c, d] = [d, (b + __turnLeft(sum, turns[part][index % 4])) | 0, b, c]
        }
        ;[a, b, c, d].forEach((value, index) => { state[index] = (state[index] + value) | 0 })
    }
    return __wordBytes(state, false)
}
function __binary(bytes) { return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('') }
function __digest(bytes, form) {
    if (form === 'base64') { return btoa(__binary(bytes)) }
    if (form === 'base64url') { return btoa(__binary(bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') }
    if (form === 'binary') { return __binary(bytes) }
    if (isNotNull(form) && form !== 'hex') { throw new Error(`Unknown encoding ${__STLToString(form)}`) }
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
function md5(text, form) { return isNull(text) ? null : __digest(__md5(__bytes(text)), form) }
function sha1(text, form) { return isNull(text) ? null : __digest(__sha1(__bytes(text)), form) }
function sha256(text, form) { return isNull(text) ? null : __digest(__sha256(__bytes(text)), form) }
function md5Hex(text) { return md5(text) }
function sha1Hex(text) { return sha1(text) }
function sha256Hex(text) { return sha256(text) }
function __hmacChain(hash, list, form) {
    if (isNull(list)) { return null }
    if (!Array.isArray(list)) { __refuse('data', 'an array', list) }
    if (list.length < 2) { throw new Error('Data array must contain at least two elements.') }
    let key = __bytes(list[0])
    for (const message of list.slice(1)) {
        const block = new Uint8Array(64)
        block.set(key.length > 64 ? hash(key) : key)
        const inner = hash(Uint8Array.from([...block.map((byte) => byte ^ 0x36), ...__bytes(message)]))
        key = hash(Uint8Array.from([...block.map((byte) => byte ^ 0x5c), ...inner]))
    }
    return __digest(key, form)
}
function sha256HmacChain(list, form) { return __hmacChain(__sha256, list, form) }
function sha1HmacChain(list, form) { return __hmacChain(__sha1, list, form) }
function sha256HmacChainHex(list) { return __hmacChain(__sha256, list) }
function sha1HmacChainHex(list) { return __hmacChain(__sha1, list) }
