/** What the configuration says of recording. */
import type { LoadedConfig } from '../config/index.ts'
import { Recorder, Redaction, type RecordingRules } from '../recording/index.ts'
import type { Load } from './load.ts'

/** The redactor is loaded here only where it is needed. */
export async function openRecorder(loaded: LoadedConfig, load: Load): Promise<Recorder> {
  const { baseDirectory } = loaded
  const { recording } = loaded.config
  const { redactor, redactor_settings } = recording
  const redaction = new Redaction({
    load: async () => (await load('redactor', redactor)).make({ ...redactor_settings }),
    thread: { entry: ENTRY, source: { redactor, settings: { ...redactor_settings }, baseDirectory } },
  })
  const recorder = new Recorder(recordingRules(loaded), redaction)
  await recorder.open()
  return recorder
}

export function recordingRules({ config: { recording } }: LoadedConfig): RecordingRules {
  const { mode, scenarios } = recording
  return { mode, scenarios: new Map(Object.entries(scenarios).map(([name, rule]) => [name, { mode: rule.mode ?? mode }])) }
}

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../redactor-thread.ts' : '../redactor-thread.js', import.meta.url)
