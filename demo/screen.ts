/** The demo's output: numbered steps, and a progress line. */

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const isTerminal = process.stdout.isTTY

const painted = (code: number, text: string): string => (isTerminal ? `\u001B[${code}m${text}\u001B[0m` : text)
export const bold = (text: string): string => painted(1, text)
export const dim = (text: string): string => painted(2, text)
export const good = (text: string): string => painted(32, text)
export const bad = (text: string): string => painted(31, text)

export const print = (text = ''): void => void process.stdout.write(`${text}\n`)

let steps = 0
export function title(text: string): void {
  steps += 1
  print(`\n${bold(`${steps}  ${text}`)}`)
}

export const line = (text: string): void => print(`   ${text}`)

/** Shows `label` and the progress until the work is done; without a terminal it prints once. */
export async function during<T>(label: string, work: Promise<T>, progress: () => string = () => ''): Promise<T> {
  if (!isTerminal) {
    line(`${label} …`)
    return work
  }
  let frame = 0
  const timer = setInterval(() => {
    frame += 1
    process.stdout.write(`\r\u001B[2K   ${FRAMES[frame % FRAMES.length]} ${label} ${dim(progress())}`)
  }, FRAME_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    process.stdout.write('\r\u001B[2K')
  }
}
