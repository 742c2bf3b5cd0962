// The helpers of printed programs. One top-level function after another; each is copied into a
// program that calls it, with the helpers named in its text. Bodies are browser JavaScript without
// modules. Behaviour: spec/hog-language.md sections 4 to 9 and 14.

function print(...values) { console.log(...values.map(__printHogStringOutput)) }
function __lambda(callback) { return callback }
function tuple(...items) { Object.defineProperty(items, '__isHogTuple', { value: true }); return items }
function __isTuple(value) { return Array.isArray(value) && value.__isHogTuple === true }
function __isObject(value) { return value !== null && typeof value === 'object' && !Array.isArray(value) }
function __isHogDate(value) { return __isObject(value) && value.__hogDate__ === true }
function __isHogDateTime(value) { return __isObject(value) && value.__hogDateTime__ === true }
function __isHogError(value) { return __isObject(value) && value.__hogError__ === true }
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
function __order(left, right) {
    if (left === null || left === undefined || right === null || right === undefined) { return null }
    return [__number(left), __number(right)]
}
function __lt(left, right) { const pair = __order(left, right); return pair !== null && pair[0] < pair[1] }
function __lte(left, right) { const pair = __order(left, right); return pair !== null && pair[0] <= pair[1] }
function __gt(left, right) { const pair = __order(left, right); return pair !== null && pair[0] > pair[1] }
function __gte(left, right) { const pair = __order(left, right); return pair !== null && pair[0] >= pair[1] }
function less(left, right) { return __lt(left, right) }
function lessOrEquals(left, right) { return __lte(left, right) }
function greater(left, right) { return __gt(left, right) }
function greaterOrEquals(left, right) { return __gte(left, right) }
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
function plus(left, right) { return isNull(left) || isNull(right) ? null : left + right }
function minus(left, right) { return isNull(left) || isNull(right) ? null : left - right }
function min2(left, right) { return left < right ? left : right }
function floor(value) { return isNull(value) ? null : Math.floor(value) }
function round(value) { return isNull(value) ? null : Math.round(value) }
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
    if (__isHogDateTime(value)) { return `DateTime(${Number.isInteger(value.dt) ? value.dt.toFixed(1) : value.dt}, ${__escapeString(value.zone)})` }
    if (__isHogDate(value)) { return `Date(${value.year}, ${value.month}, ${value.day})` }
    if (__isHogError(value)) { return `${value.type}(${__escapeString(value.message)}${value.payload ? ', ' + inner(value.payload) : ''})` }
    if (__isTuple(value)) { return value.length < 2 ? `tuple(${value.map(inner).join(', ')})` : `(${value.map(inner).join(', ')})` }
    if (Array.isArray(value)) { return `[${value.map(inner).join(', ')}]` }
    if (value.__hx_ast) { return `sql(${__printSql(value)})` }
    return `{${Object.entries(value).map(([key, item]) => `${__escapeString(key)}: ${inner(item)}`).join(', ')}}`
}
function __printHogStringOutput(value) { return typeof value === 'string' ? value : __printHogValue(value) }
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
    const found = isNull(value) ? NaN : parseInt(__STLToString(value), 10)
    return Number.isNaN(found) ? null : found
}
function toFloat(value) {
    if (__isHogDateTime(value) || __isHogDate(value)) { return __number(value) }
    const found = isNull(value) ? NaN : parseFloat(__STLToString(value))
    return Number.isNaN(found) ? null : found
}
function length(value) { return typeof value === 'string' || Array.isArray(value) ? value.length : null }
function lower(value) { return isNull(value) ? null : value.toLowerCase() }
function upper(value) { return isNull(value) ? null : value.toUpperCase() }
function reverse(value) { return isNull(value) ? null : value.split('').reverse().join('') }
function __trimmed(text, character, left, right) {
    if (isNull(text)) { return null }
    if (typeof character !== 'string' || character.length !== 1) { return '' }
    let start = 0
    let end = text.length
    while (left && start < end && text[start] === character) { start += 1 }
    while (right && end > start && text[end - 1] === character) { end -= 1 }
    return text.slice(start, end)
}
function trim(text, character = ' ') { return __trimmed(text, character, true, true) }
function trimLeft(text, character = ' ') { return __trimmed(text, character, true, false) }
function trimRight(text, character = ' ') { return __trimmed(text, character, false, true) }
function splitByString(separator, text, max) { return isNull(text) ? null : text.split(separator, max ?? undefined) }
function replaceOne(text, from, to) { return isNull(text) ? null : text.replace(from, () => to) }
function replaceAll(text, from, to) { return isNull(text) ? null : text.replaceAll(from, () => to) }
function position(text, part) { return typeof text === 'string' ? text.indexOf(part) + 1 : 0 }
function positionCaseInsensitive(text, part) { return typeof text === 'string' ? text.toLowerCase().indexOf(part.toLowerCase()) + 1 : 0 }
function substring(text, start, count) {
    if (isNull(text)) { return null }
    const size = count ?? text.length
    return start < 1 || size < 1 ? '' : text.slice(start - 1, start - 1 + size)
}
function startsWith(text, part) { return typeof text === 'string' && typeof part === 'string' && text.startsWith(part) }
function __like(text, pattern, ignoreCase = false) {
    if (typeof text !== 'string' || typeof pattern !== 'string') { return false }
    const source = pattern.replace(/[.*+?^${}()|[\]\\\/-]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')
    return new RegExp(source, ignoreCase ? 'i' : '').test(text)
}
function like(text, pattern) { return __like(text, pattern) }
function ilike(text, pattern) { return __like(text, pattern, true) }
function notLike(text, pattern) { return !__like(text, pattern) }
function notILike(text, pattern) { return !__like(text, pattern, true) }
function match(text, pattern) { return Boolean(text) && Boolean(pattern) && new RegExp(pattern).test(text) }
function __imatch(text, pattern) { return Boolean(text) && Boolean(pattern) && new RegExp(pattern, 'i').test(text) }
function extractRegex(text, pattern) {
    if (isNull(text)) { return null }
    const found = text.match(new RegExp(pattern))
    return found ? (found.length > 1 ? found[1] : found[0]) ?? '' : ''
}
function multiSearchAnyCaseInsensitive(text, parts) {
    if (isNull(text)) { return null }
    const lowered = text.toLowerCase()
    return parts.some((part) => lowered.includes(part.toLowerCase())) ? 1 : 0
}
function __bytes(text) { return new TextEncoder().encode(text) }
function base64Encode(text) { return isNull(text) ? null : btoa(Array.from(__bytes(text), (byte) => String.fromCharCode(byte)).join('')) }
function base64Decode(text) { return isNull(text) ? null : new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))) }
function tryBase64Decode(text) { try { return base64Decode(text) } catch { return null } }
function encodeURLComponent(text) { return isNull(text) ? null : encodeURIComponent(text) }
function decodeURLComponent(text) { return isNull(text) ? null : decodeURIComponent(text) }
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
    if (__isHogError(value)) { return { __hogError__: true, type: value.type, message: value.message, payload: inner(value.payload) } }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]))
}
function jsonStringify(value, spacing = 0) { return JSON.stringify(__plainJson(value), null, spacing > 0 ? spacing : undefined) }
function __revive(value) {
    if (Array.isArray(value)) { return value.map(__revive) }
    if (!__isObject(value)) { return value }
    if (value.__hogError__) { return __newHogError(value.type, value.message, __revive(value.payload)) }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, __revive(item)]))
}
function jsonParse(text) { return isNull(text) ? null : __revive(JSON.parse(text)) }
function isValidJSON(text) { try { JSON.parse(text); return typeof text === 'string' } catch { return false } }
function __jsonAt(source, path) {
    const parsed = (value) => { try { return typeof value === 'string' ? JSON.parse(value) : value } catch { return undefined } }
    let value = parsed(source)
    for (const step of path) {
        value = parsed(value)
        if (isNull(value) || typeof value !== 'object') { return undefined }
        if (Array.isArray(value)) {
            value = typeof step === 'number' && step !== 0 ? value[step > 0 ? step - 1 : value.length + step] : undefined
        } else {
            value = Object.prototype.hasOwnProperty.call(value, step) ? value[step] : undefined
        }
        if (value === undefined) { return undefined }
    }
    return value
}
function JSONHas(source, ...path) { return __jsonAt(source, path) !== undefined }
function JSONLength(source, ...path) {
    const found = __jsonAt(source, path)
    return Array.isArray(found) ? found.length : __isObject(found) ? Object.keys(found).length : 0
}
function JSONExtractBool(source, ...path) { return __jsonAt(source, path) === true }
function JSONExtractInt(source, ...path) { return toInt(__jsonAt(source, path)) }
function JSONExtractFloat(source, ...path) { return toFloat(__jsonAt(source, path)) }
function JSONExtractString(source, ...path) {
    const found = __jsonAt(source, path)
    return isNull(found) ? null : typeof found === 'object' ? jsonStringify(found) : __STLToString(found)
}
function JSONExtractArrayRaw(source, ...path) {
    const found = __jsonAt(source, path)
    return Array.isArray(found) ? found : null
}
function JSONExtract(source, ...path) { return __jsonAt(source, path.slice(0, -1)) ?? null }
function keys(value) { return Array.isArray(value) ? value.map((_, index) => index) : __isObject(value) ? Object.keys(value) : [] }
function values(value) { return Array.isArray(value) ? [...value] : __isObject(value) ? Object.values(value) : [] }
function empty(value) {
    if (value === null || value === undefined || value === '') { return true }
    if (typeof value !== 'object') { return false }
    return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
function notEmpty(value) { return !empty(value) }
function has(list, item) { return Array.isArray(list) && list.includes(item) }
function __x_in(item, list) { return typeof list === 'string' || Array.isArray(list) ? list.includes(item) : __isObject(list) && Object.prototype.hasOwnProperty.call(list, item) }
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
function arrayStringConcat(list, separator = '') { return Array.isArray(list) ? list.map((item) => (isNull(item) ? '' : __STLToString(item))).join(separator) : isNull(list) ? '' : [] }
function range(from, to) {
    const start = to === undefined ? 0 : from
    const end = to === undefined ? from : to
    return Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index)
}
function arrayMap(callback, list) { return isNull(list) ? [] : list.map((item) => callback(item)) }
function arrayFilter(callback, list) { return isNull(list) ? [] : list.filter((item) => callback(item)) }
function arrayExists(callback, list) { return isNull(list) ? false : list.some((item) => callback(item)) }
function arrayCount(callback, list) { return isNull(list) ? 0 : list.filter((item) => callback(item)).length }
function arrayReduce(callback, list, start) { return isNull(list) ? start : list.reduce((total, item) => callback(total, item), start) }
function now(zone = 'UTC') { return __toHogDateTime(Date.now() / 1000, zone) }
function today() { const day = new Date(); return __toHogDate(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()) }
function __parseDate(text, zone) {
    const found = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(text.trim())
    if (!found) { return null }
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] = found
    const milliseconds = Math.floor(Number(`0.${fraction}`) * 1000)
    const instant = new Date(Date.UTC(2000, month - 1, day, hour, minute, second, milliseconds))
    instant.setUTCFullYear(Number(year), month - 1, day)
    if (instant.getUTCMonth() !== month - 1 || Number(hour) > 23 || Number(minute) > 59 || Number(year) < 1) { return null }
    const seconds = instant.getTime() / 1000
    if (offset && !/z/i.test(offset)) {
        const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
        const shift = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2)) * 60
        return __toHogDateTime(seconds - (offset[0] === '-' ? -shift : shift))
    }
    return offset || !zone ? __toHogDateTime(seconds) : __toHogDateTime(seconds - __zoneOffset(seconds, zone) * 60, zone)
}
function toDateTime(value, zone) {
    if (isNull(value)) { return null }
    if (__isHogDateTime(value)) { return value }
    if (__isHogDate(value)) { return __toHogDateTime(__number(value)) }
    return typeof value === 'number' ? __toHogDateTime(value, zone) : __parseDate(String(value), zone)
}
function toDate(value) {
    if (__isHogDate(value)) { return value }
    const instant = toDateTime(value)
    if (!instant) { return null }
    const day = new Date(Math.floor(instant.dt * 1000) + __zoneOffset(instant.dt, instant.zone) * 60000)
    return __toHogDate(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate())
}
function fromUnixTimestamp(value) { return isNull(value) ? null : __toHogDateTime(value) }
function fromUnixTimestampMilli(value) { return isNull(value) ? null : __toHogDateTime(value / 1000) }
function toUnixTimestamp(value, zone) { const instant = toDateTime(value, zone); return instant && instant.dt }
function toUnixTimestampMilli(value, zone) { const instant = toDateTime(value, zone); return instant && instant.dt * 1000 }
function toTimeZone(value, zone) {
    if (isNull(value)) { return null }
    if (!__isHogDateTime(value)) { throw new Error('Expected a DateTime') }
    return __toHogDateTime(value.dt, zone)
}
function __local(value) {
    const instant = toDateTime(value)
    return instant && new Date(Math.round(instant.dt * 1000) + __zoneOffset(instant.dt, instant.zone) * 60000)
}
function toYear(value) { const day = __local(value); return day && day.getUTCFullYear() }
function toMonth(value) { const day = __local(value); return day && day.getUTCMonth() + 1 }
function toYYYYMM(value) { const day = __local(value); return day && day.getUTCFullYear() * 100 + day.getUTCMonth() + 1 }
function extract(part, value) {
    const day = __local(value)
    if (!day) { return null }
    const parts = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate(), hour: day.getUTCHours(), minute: day.getUTCMinutes(), second: day.getUTCSeconds() }
    if (!(part in parts)) { throw new Error(`Unknown extract part: ${part}`) }
    return parts[part]
}
function dateTrunc(unit, value) {
    if (isNull(value)) { return null }
    const at = ['year', 'month', 'day', 'hour', 'minute'].indexOf(unit)
    if (at < 0) { throw new Error(`Unsupported unit for dateTrunc: ${unit}`) }
    const day = __local(value)
    const parts = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), day.getUTCHours(), day.getUTCMinutes()]
    const starts = [0, 0, 1, 0, 0].map((start, index) => (index <= at ? parts[index] : start))
    const local = Date.UTC(...starts) / 1000
    return __toHogDateTime(local - __zoneOffset(local, value.zone) * 60, value.zone)
}
function toStartOfDay(value) { return dateTrunc('day', toDateTime(value)) }
function toStartOfHour(value) { return dateTrunc('hour', toDateTime(value)) }
function toStartOfMonth(value) { return dateTrunc('month', toDateTime(value)) }
function toStartOfWeek(value) {
    const start = dateTrunc('day', toDateTime(value))
    return start && __toHogDateTime(start.dt - ((__local(start).getUTCDay() + 6) % 7) * 86400, start.zone)
}
function dateAdd(unit, count, value) {
    if (isNull(value)) { return null }
    const seconds = { second: 1, minute: 60, hour: 3600, day: 86400, week: 604800 }
    const instant = toDateTime(value)
    let result
    if (unit in seconds) {
        result = instant.dt + count * seconds[unit]
    } else if (unit === 'month' || unit === 'year') {
        const day = new Date(Math.round(instant.dt * 1000))
        const date = day.getUTCDate()
        day.setUTCDate(1)
        day.setUTCMonth(day.getUTCMonth() + count * (unit === 'year' ? 12 : 1))
        day.setUTCDate(Math.min(date, new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate()))
        result = day.getTime() / 1000
    } else {
        throw new Error(`Unsupported interval unit: ${unit}`)
    }
    return __isHogDate(value) ? toDate(__toHogDateTime(result)) : __toHogDateTime(result, instant.zone)
}
function addDays(value, count) { return dateAdd('day', count, value) }
function dateDiff(unit, from, to) {
    const [start, end] = [toDateTime(from), toDateTime(to)]
    if (!start || !end) { return null }
    const seconds = { second: 1, minute: 60, hour: 3600, day: 86400 }
    if (unit in seconds) { return Math.floor((end.dt - start.dt) / seconds[unit]) }
    if (unit === 'week') { return Math.floor(Math.floor((end.dt - start.dt) / 86400) / 7) }
    if (unit === 'month') { return (toYear(end) - toYear(start)) * 12 + toMonth(end) - toMonth(start) }
    if (unit === 'year') { return toYear(end) - toYear(start) }
    throw new Error(`Unsupported interval unit: ${unit}`)
}
function toIntervalDay(value) { return __toHogInterval(value, 'day') }
function toIntervalHour(value) { return __toHogInterval(value, 'hour') }
function toIntervalMinute(value) { return __toHogInterval(value, 'minute') }
function toIntervalMonth(value) { return __toHogInterval(value, 'month') }
function __isoWeek(day) {
    const thursday = new Date(day)
    thursday.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
    return Math.ceil(((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86400000 + 1) / 7)
}
function formatDateTime(value, format, zone) {
    if (isNull(value)) { return null }
    const instant = toDateTime(value)
    const place = zone ?? instant.zone
    const offset = __zoneOffset(instant.dt, place)
    const day = new Date(Math.round(instant.dt * 1000) + offset * 60000)
    const names = (width, part) => day.toLocaleString('en-US', { timeZone: 'UTC', [part]: width })
    const [year, month, date, hour] = [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate(), day.getUTCHours()]
    const [minute, second] = [__pad(day.getUTCMinutes(), 2), __pad(day.getUTCSeconds(), 2)]
    const [half, hour12] = [hour < 12 ? 'AM' : 'PM', __pad(hour % 12 || 12, 2)]
    const weekday = String(day.getUTCDay() || 7)
    const letters = {
        a: names('short', 'weekday'), W: names('long', 'weekday'), b: names('short', 'month'), M: names('long', 'month'),
        c: __pad(month, 2), m: __pad(month, 2), d: __pad(date, 2), e: String(date),
        j: __pad(Math.floor((Date.UTC(year, month - 1, date) - Date.UTC(year, 0, 1)) / 86400000) + 1, 3),
        C: __pad(year % 100, 2), y: __pad(year % 100, 2), g: __pad(year % 100, 2), G: String(year), Y: String(year), V: __pad(__isoWeek(day), 2),
        D: `${__pad(month, 2)}/${__pad(date, 2)}/${__pad(year % 100, 2)}`, F: `${year}-${__pad(month, 2)}-${__pad(date, 2)}`, u: weekday, w: weekday,
        H: __pad(hour, 2), k: __pad(hour, 2), h: hour12, I: hour12, l: hour12, p: half, i: minute, s: second, S: second, f: __pad(day.getUTCMilliseconds(), 3),
        R: `${__pad(hour, 2)}:${minute}`, T: `${__pad(hour, 2)}:${minute}:${second}`, r: `${hour12}:${minute} ${half}`, z: __offsetText(offset, ''), n: '\n', t: '\t', '%': '%',
    }
    return format.replace(/%([\s\S])/g, (_, letter) => letters[letter] ?? '')
}
function isIPAddressInRange(address, range) {
    const parse = (text) => {
        if (typeof text !== 'string') { return null }
        if (/^\d+(\.\d+){3}$/.test(text)) {
            const parts = text.split('.').map(Number)
            return parts.every((part) => part < 256) ? [parts.reduce((total, part) => total * 256n + BigInt(part), 0n), 32] : null
        }
        if (!/^[0-9a-f:]+$/i.test(text) || text.split('::').length > 2) { return null }
        const [head, tail] = text.split('::').map((side) => (side ? side.split(':') : []))
        const fill = tail === undefined ? [] : Array(8 - head.length - tail.length).fill('0')
        const groups = [...head, ...fill, ...(tail ?? [])]
        return groups.length === 8 && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? [groups.reduce((total, group) => total * 65536n + BigInt('0x' + group), 0n), 128] : null
    }
    try {
        const [base, bits] = String(range).split('/')
        const [left, right] = [parse(address), parse(base)]
        if (!left || !right || left[1] !== right[1] || !/^\d+$/.test(bits) || Number(bits) > right[1]) { return false }
        const shift = BigInt(right[1] - Number(bits))
        return left[0] >> shift === right[0] >> shift
    } catch { return false }
}
function sortableSemver(text) {
    if (isNull(text)) { return null }
    const found = /\d+(\.\d+)+/.exec(String(text))
    return found ? found[0].split('.').map(Number) : []
}
function __cohort(list) {
    if (isNull(list)) { throw __newHogError('Error', 'Cohort membership is not loaded', null) }
    return list
}
function inCohort(cohort, list) { return __cohort(list).includes(cohort) }
function notInCohort(cohort, list) { return !__cohort(list).includes(cohort) }
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
