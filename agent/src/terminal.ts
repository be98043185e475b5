/** The person at the other end: lines to read, questions to answer, and something that moves while they wait. */
import { hiddenAsJson, showHidden } from '@svc-ai/client/hidden'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ReadStream, WriteStream } from 'node:tty'

export interface Terminal {
  /** Whether a person can be asked. */
  readonly interactive: boolean
  print(line: string): void
  printJson(value: object): void
  warn(line: string): void
  confirm(question: string, byDefault: boolean): Promise<boolean>
  /** Without the line's end; empty when nothing was given. A hidden answer is not shown while it is typed. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string>
  /** Shows that something is under way until it is over. */
  during<T>(label: string, work: () => Promise<T>): Promise<T>
}

interface Stream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const TTY = '/dev/tty'
const FRAMES = ['|', '/', '-', '\\']
const FRAME_MILLISECONDS = 120

export function openTerminal({ stdout, stderr }: { readonly stdout: Stream; readonly stderr: Stream } = process): Terminal {
  return {
    interactive: stdout.isTTY === true && canOpenTty(),
    print: (line) => void stdout.write(`${showHidden(line)}\n`),
    printJson: (value) => void stdout.write(`${hiddenAsJson(JSON.stringify(value))}\n`),
    warn: (line) => void stderr.write(`${showHidden(line)}\n`),
    confirm: async (question, byDefault) =>
      isYes(await answerTo(`${showHidden(question)} ${byDefault ? '[Y/n]' : '[y/N]'} `, false), byDefault),
    ask: (question, { hidden = false } = {}) => answerTo(showHidden(question), hidden),
    during: (label, work) => (stderr.isTTY === true ? spinning(stderr, showHidden(label), work) : oneLine(stderr, showHidden(label), work)),
  }
}

function canOpenTty(): boolean {
  try {
    closeSync(openSync(TTY, 'r+'))
    return true
  } catch {
    return false
  }
}

function isYes(answer: string, byDefault: boolean): boolean {
  const word = answer.trim().toLowerCase()
  return word === '' ? byDefault : word === 'y' || word === 'yes'
}

/** From the terminal itself: the standard input may be the program that is asking. */
async function answerTo(question: string, hidden: boolean): Promise<string> {
  const input = new ReadStream(openSync(TTY, 'r'))
  const screen = new WriteStream(openSync(TTY, 'w'))
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  screen.write(question)
  const reader = createInterface({ input, output: hidden ? nowhere : screen, terminal: true, historySize: 0 })
  // The reader redraws its line from the left, the prompt included.
  reader.setPrompt(hidden ? '' : question)
  try {
    return await new Promise<string>((resolve) => {
      reader.once('line', resolve)
      reader.once('close', () => resolve(''))
      reader.once('SIGINT', () => {
        reader.close()
        process.kill(process.pid, 'SIGINT')
      })
    })
  } finally {
    reader.close()
    if (hidden) screen.write('\n')
    input.destroy()
    screen.destroy()
  }
}

async function spinning<T>(stderr: Stream, label: string, work: () => Promise<T>): Promise<T> {
  let turn = 0
  const draw = (): void => void stderr.write(`\r${FRAMES[turn++ % FRAMES.length] ?? ''} ${label}`)
  draw()
  const timer = setInterval(draw, FRAME_MILLISECONDS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    stderr.write('\r\u001b[K')
  }
}

function oneLine<T>(stderr: Stream, label: string, work: () => Promise<T>): Promise<T> {
  stderr.write(`${label} ...\n`)
  return work()
}
