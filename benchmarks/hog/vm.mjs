// Runs bytecode on the official machine, warm: reads {name: {bytecode, globals}}, writes
// {name: {milliseconds, output}} with the median of the rounds.
// node vm.mjs JOBS.json FOLDER_OF_node_modules ROUNDS
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import crypto from 'node:crypto'

const require = createRequire(process.argv[3] + '/package.json')
const { exec } = require('@posthog/hogvm')
const jobs = JSON.parse(readFileSync(process.argv[2]))
const rounds = Number(process.argv[4])
const match = (pattern, text) => new RegExp(pattern).test(text)
const options = (globals) => ({ globals, timeout: 60000, external: { crypto, regex: { match } } })

const write = console.log
const answer = {}
for (const [name, { bytecode, globals }] of Object.entries(jobs)) {
  const times = []
  let output = []
  console.log = (...parts) => output.push(parts.join(' '))
  for (let round = 0; round < rounds + 5; round++) {
    output = []
    const start = process.hrtime.bigint()
    const result = exec(bytecode, options(globals))
    const took = Number(process.hrtime.bigint() - start) / 1e6
    if (round >= 5) times.push(took)
    if (result.error) throw new Error(`${name}: ${result.error}`)
  }
  times.sort((a, b) => a - b)
  answer[name] = { milliseconds: times[Math.floor(times.length / 2)], output }
}
write(JSON.stringify(answer))
