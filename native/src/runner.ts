/**
 * The program that runs a module of the tree, as text: it is handed to a Node of its own and imports nothing of ours.
 * The module comes as text too, so that no file beside it can change what it is.
 */
export const RUNNER = `
import { writeSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { createInterface } from 'node:readline'

const ANSWERS = 3
const waiting = new Map()
let calls = 0

function say(value) {
  let rest = Buffer.from(JSON.stringify(value) + '\\n')
  while (rest.length > 0) rest = rest.subarray(writeSync(ANSWERS, rest))
}

async function load(code, name) {
  const text = stripTypeScriptTypes(code)
  const module = await import('data:text/javascript;base64,' + Buffer.from(text).toString('base64'))
  if (typeof module[name] !== 'function') throw new Error('the module exports no function ' + name)
  return module[name]
}

async function tool({ code, args, workdir }) {
  const run = await load(code, 'run')
  const result = await run(args, workdir)
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
}

async function hooks({ hooks, event, otherwise }) {
  const errors = []
  const below = (index) => {
    let known
    return () => (known ??= decide(index)).then((decision) => structuredClone(decision))
  }
  const decide = async (index) => {
    if (index === hooks.length) return otherwise
    const next = below(index + 1)
    try {
      const hook = await load(hooks[index].code, 'decide')
      const decision = (await hook(structuredClone(event), next)) ?? (await next())
      if (typeof decision !== 'object' || typeof decision.action !== 'string') throw new Error('the decision has no action')
      return JSON.parse(JSON.stringify(decision))
    } catch (error) {
      errors.push({ hook: hooks[index].name, problem: wordsOf(error) })
      return next()
    }
  }
  return { decision: await decide(0), errors }
}

async function loop({ code, task }) {
  const runTurn = await load(code, 'runTurn')
  const ask = (method) => (...args) =>
    new Promise((resolve) => {
      calls += 1
      waiting.set(calls, resolve)
      say({ call: method, id: calls, args })
    })
  const methods = ['model', 'runTools', 'text', 'say', 'agent', 'end', 'log']
  await runTurn({ task, ...Object.fromEntries(methods.map((method) => [method, ask(method)])) })
  return null
}

function wordsOf(error) {
  return error instanceof Error ? error.message : String(error)
}

const WAYS = { tool, hooks, loop }

async function begin(task) {
  try {
    say({ done: await WAYS[task.kind](task) })
  } catch (error) {
    say({ failed: wordsOf(error) })
  }
}

process.on('uncaughtException', (error) => {
  say({ failed: wordsOf(error) })
  process.exit(1)
})

let isBegun = false
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const value = JSON.parse(line)
  if (isBegun) {
    waiting.get(value.id)?.(value.value)
    waiting.delete(value.id)
    return
  }
  isBegun = true
  void begin(value)
})
// The caller is gone: nothing that was started here may stay.
lines.on('close', () => process.kill(-process.pid, 'SIGKILL'))
`
