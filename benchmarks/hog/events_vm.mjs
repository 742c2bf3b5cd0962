// Times short programs on the official machine: reads {name: bytecode} and the globals they share,
// writes {name: {microseconds, result, output}}: processor time of a run, the lowest of the batches.
// node events_vm.mjs JOBS.json GLOBALS.json FOLDER_OF_node_modules
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import crypto from 'node:crypto'

const require = createRequire(process.argv[4] + '/package.json')
const { exec } = require('@posthog/hogvm')
const jobs = JSON.parse(readFileSync(process.argv[2]))
const globals = JSON.parse(readFileSync(process.argv[3]))
const match = (pattern, text) => pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i').test(text) : new RegExp(pattern).test(text)
const extract = (pattern, text) => { const found = text.match(new RegExp(pattern)); return found ? (found[1] ?? found[0]) : '' }
const options = { globals, timeout: 60000, external: { crypto, regex: { match, extract } } }
const BATCHES = 7
const BATCH_MICROSECONDS = 30_000
const WARM_MICROSECONDS = 150_000

const write = console.log
const used = () => { const { user, system } = process.cpuUsage(); return user + system }
const plain = (value) =>
  value instanceof Map ? Object.fromEntries([...value].map(([k, v]) => [k, plain(v)])) : Array.isArray(value) ? value.map(plain) : value
const answer = {}
for (const [name, bytecode] of Object.entries(jobs)) {
  let output = []
  console.log = (...parts) => output.push(parts.join(' '))
  const run = () => { output = []; return exec(bytecode, options) }
  const { error, result } = run()
  if (error) throw new Error(`${name}: ${error}`)
  let runs = 0
  for (const start = used(); used() - start < WARM_MICROSECONDS; ) { run(); runs++ }
  const many = Math.max(1, Math.round(runs * BATCH_MICROSECONDS / WARM_MICROSECONDS))
  let lowest = Infinity
  for (let batch = 0; batch < BATCHES; batch++) {
    const start = used()
    for (let i = 0; i < many; i++) run()
    lowest = Math.min(lowest, (used() - start) / many)
  }
  answer[name] = { microseconds: lowest, result: plain(result), output }
}
write(JSON.stringify(answer))
