/** `npm run bench:weights`: the trainer on one device, its reward curve and speed, and its step beside a plain loop of PEFT; options go to bench/weights/card.py. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findPython, trainerEnvironment } from '../src/cli/trainer/python.ts'

const script = join(import.meta.dirname, 'weights', 'card.py')
const python = await findPython(process.env)
const child = spawn(python, [script, ...process.argv.slice(2)], { env: trainerEnvironment(process.env), stdio: 'inherit' })
const [code] = await once(child, 'exit')
process.exitCode = typeof code === 'number' ? code : 1
