/** What the configuration says of recording. */
import type { LoadedConfig } from '../config/index.ts'
import { Recorder, Redaction } from '../recording/index.ts'
import type { Load } from './load.ts'

/** The redactor is loaded here only where it is needed. */
export async function openRecorder({ config: { recording }, baseDirectory }: LoadedConfig, load: Load): Promise<Recorder> {
  const { mode, scenarios, redactor, redactor_settings } = recording
  const own = Object.entries(scenarios).map(([name, rule]) => [name, { mode: rule.mode ?? mode }] as const)
  const redaction = new Redaction({
    load: async () => (await load('redactor', redactor)).make({ ...redactor_settings }),
    thread: { entry: ENTRY, source: { redactor, settings: { ...redactor_settings }, baseDirectory } },
  })
  const recorder = new Recorder({ mode, scenarios: new Map(own) }, redaction)
  await recorder.open()
  return recorder
}

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../redactor-thread.ts' : '../redactor-thread.js', import.meta.url)
