// The reference machine as a line server: one JSON job a line in, one JSON answer a line out.
// Job: {bytecode, globals, timeout}. Answer: {output: [lines], result, error} with `error` the text of what ended the run.
const path = require('path')
const readline = require('readline')
const vm = require(path.join(process.env.HOGVM_FOLDER || path.join(__dirname, 'node_modules'), '@posthog/hogvm'))
const crypto = require('crypto')

function run(job) {
    const output = []
    const original = console.log
    console.log = (...parts) => output.push(...parts.join(' ').split('\n'))
    let error = null
    let result = null
    try {
        const answer = vm.exec(job.bytecode, {
            globals: job.globals || {},
            timeout: job.timeout || 5000,
            external: {
                crypto,
                regex: { match: (pattern, text) => expression(pattern).test(text), extract: (pattern, text) => {
                    const found = text.match(expression(pattern))
                    return found ? (found.length > 1 ? found[1] : found[0]) : ''
                } },
            },
        })
        result = vm.printHogStringOutput(answer.result)
        if (answer.error) error = errorText(answer.error)
        else if (answer.finished === false) error = 'unfinished: ' + answer.asyncFunctionName
    } catch (thrown) {
        error = errorText(thrown)
    } finally {
        console.log = original
    }
    return { output, result, error }
}

function errorText(error) {
    if (error instanceof vm.UncaughtHogVMException) return `${error.type}(${vm.escapeString(error.message)})`
    if (error instanceof vm.HogVMException || Object.getPrototypeOf(error) === Error.prototype) return error.message
    return 'raw ' + String(error)
}

// The machine asks for RE2; an inline (?i) is all that JavaScript lacks of what the tests use.
function expression(given) {
    const pattern = String(given)
    return pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern)
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
    process.stdout.write(JSON.stringify(run(JSON.parse(line))) + '\n')
})
