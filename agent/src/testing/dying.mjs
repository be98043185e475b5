/** Runs an install whose n-th change to the disk goes wrong: the process is killed right before it, or finds no room. 0 lets it live. */
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const [bundle, trouble, nth, orderFile] = process.argv.slice(2)
const promises = createRequire(import.meta.url)('node:fs/promises')
const order = JSON.parse(fs.readFileSync(orderFile, 'utf8'))
// Loaded before anything can go wrong: what it imports is replaced under it.
const { install } = await import(bundle)
let changes = 0

for (const name of ['open', 'rename', 'mkdir', 'symlink', 'writeFile', 'mkdtemp']) troubled(promises, name, true)
for (const name of ['openSync', 'renameSync', 'mkdirSync', 'writeFileSync']) troubled(fs, name, true)
for (const name of ['rm', 'unlink', 'rmdir']) troubled(promises, name, false)
for (const name of ['rmSync', 'rmdirSync']) troubled(fs, name, false)
syncBuiltinESMExports()

process.exitCode = await install(order)

function troubled(owner, name, needsRoom) {
  const change = owner[name]
  owner[name] = (...args) => {
    if (name.startsWith('open') && (args[1] ?? 'r') === 'r') return change(...args)
    changes += 1
    const isNow = changes === Number(nth)
    if (isNow && trouble === 'kill') process.kill(process.pid, 'SIGKILL')
    if (!isNow || trouble === 'kill' || !needsRoom) return change(...args)
    const error = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: name, path: String(args[0]) })
    if (owner === promises) return Promise.reject(error)
    throw error
  }
}
