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
const { argv, env, socket, port, niceness } = JSON.parse(readFileSync(0, 'utf8'))
// Only root could raise the priority again.
setPriority(Math.max(niceness, getPriority()))
createServer({ allowHalfOpen: true }, (inside) => join(inside, connect({ path: socket, allowHalfOpen: true }))).listen(
  port,
  '127.0.0.1',
  start,
)

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
function start() {
  writeSync(NOTES, 'starting ')
  const child = started()
  child.on('error', failed)
  child.on('spawn', () => closeSync(NOTES))
  child.on('exit', (code, signal) => process.exit(code ?? EXIT_SIGNALLED + constants.signals[signal]))
}

function started() {
  const [command = '', ...words] = argv
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
