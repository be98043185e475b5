/** Another process that holds a lock on a database until it is released or killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const HOLDER = `
const { DatabaseSync } = require('node:sqlite')
const [path, sql] = process.argv.slice(1)
const db = new DatabaseSync(path, { timeout: 10000 })
db.exec(sql)
console.log('held')
process.stdin.on('end', () => { db.exec('ROLLBACK'); db.close() }).resume()
`

/** Resolves when the lock is held, with its release. */
export async function holdLock(path: string, sql = 'BEGIN IMMEDIATE'): Promise<() => Promise<void>> {
  const holder = spawn(process.execPath, ['--no-warnings', '-e', HOLDER, path, sql], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(createInterface({ input: holder.stdout }), 'line')
  return async () => {
    const gone = once(holder, 'exit')
    holder.stdin.end()
    await gone
  }
}
