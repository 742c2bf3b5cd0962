// Runs printed JavaScript as a line server. Job: {code, globals}. Answer: {output: [lines], error}.
const readline = require('readline')

function run(job) {
    const output = []
    const original = console.log
    console.log = (...parts) => output.push(...parts.join(' ').split('\n'))
    let error = null
    try {
        const globals = job.globals || {}
        new Function('__getGlobal', job.code)((key) => globals[key] ?? null)
    } catch (thrown) {
        error = thrown && thrown.__hogError__ ? `${thrown.type}(${thrown.message})` : String(thrown)
    } finally {
        console.log = original
    }
    return { output, error }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
    process.stdout.write(JSON.stringify(run(JSON.parse(line))) + '\n')
})
