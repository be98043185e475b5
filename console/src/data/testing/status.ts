/** The status of a service, for tests. */
import type { StatusReport } from '@svc-ai/client'

export const statusWith = (changes: Partial<StatusReport>): StatusReport => ({
  error: null,
  preload_errors: {},
  last_drain_at: null,
  scenarios: {},
  serving: {},
  training_job: null,
  storage: { records: 0, body_bytes: 0, capacity_bytes: 0, lost_records: 0, lost_bytes: 0, error: null },
  ...changes,
})
