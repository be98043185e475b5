/** The first program in a sandbox: opens the port to the model, starts the command, and exits with its exit code. */
import { spawn } from 'node:child_process'
import { closeSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { constants, getPriority, setPriority } from 'node:os'

/** The file descriptor for progress notes. */
const NOTES = 5
const CLOSES_BY_ITSELF = 0o2000000
/** Shell exit codes: command not found, and the base for signals. */
const EXIT_NOT_STARTED = 127
const EXIT_SIGNALLED = 128

closeWhatWasInherited()
// The service keeps it open while it lives. Bubblewrap misses the death of the service while it is still making the sandbox.
process.stdin.on('end', end).on('error', end)
begin(await firstLine(process.stdin))

function end() {
  process.exit(EXIT_NOT_STARTED)
}

async function firstLine(stream) {
  let line = ''
  const { promise, resolve } = Promise.withResolvers()
  stream.setEncoding('utf8').on('data', (part) => {
    line += part
    if (line.endsWith('\n')) resolve(line)
  })
  return promise
}

function begin(order) {
  const { argv, env, socket, port, niceness } = JSON.parse(order)
  // Only root could raise the priority again.
  setPriority(Math.max(niceness, getPriority()))
  const server = createServer({ allowHalfOpen: true }, (inside) => join(inside, connect({ path: socket, allowHalfOpen: true })))
  server.listen(port, '127.0.0.1', () => start(argv, env))
}

/** Files that the service inherited must not be open here. */
function closeWhatWasInherited() {
  for (const name of readdirSync('/proc/self/fd')) {
    const file = Number(name)
    if (file > 2 && file !== NOTES && !closesByItself(file)) closeSync(file)
  }
}

function closesByItself(file) {
  try {
    const [, flags = '0'] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & CLOSES_BY_ITSELF) !== 0
  } catch {
    // The descriptor of the listing itself, which is closed by now.
    return true
  }
}

function join(inside, outside) {
  inside.pipe(outside).pipe(inside)
  inside.on('error', () => outside.destroy())
  outside.on('error', () => inside.destroy())
}

/** Notes the start before it happens: the command may kill this program at once. */
function start(argv, env) {
  writeSync(NOTES, 'starting ')
  const child = started(argv, env)
  child.on('error', failed)
  child.on('spawn', () => closeSync(NOTES))
  child.on('exit', (code, signal) => process.exit(code ?? EXIT_SIGNALLED + constants.signals[signal]))
}

function started([command = '', ...words], env) {
  try {
    return spawn(command, words, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  } catch {
    return failed()
  }
}

function failed() {
  writeSync(NOTES, 'failed')
  process.exit(EXIT_NOT_STARTED)
}
