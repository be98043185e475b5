/** Composes the process of the trainers. Each of them has a thread there. */
import { serveTrainers } from './training/index.ts'

serveTrainers(new URL(import.meta.url.endsWith('.ts') ? './trainer-thread.ts' : './trainer-thread.js', import.meta.url))
