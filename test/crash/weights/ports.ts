/** Ports that stay somebody's while they are dead: below those that the machine gives to whoever asks for any. */
import { createServer } from 'node:net'

const LEAST = 20_000
const MOST = 29_999

/** One that nobody listens on, and that was not given before. */
export async function ownPort(): Promise<number> {
  const port = next
  next = port >= MOST ? LEAST : port + 1
  return (await isFree(port)) ? port : ownPort()
}

/** Runs beside each other begin at different ones. */
let next = LEAST + (process.pid % (MOST - LEAST))

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
