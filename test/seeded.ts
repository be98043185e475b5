/** Before each test file: property tests draw from the seed of the run. */
import { configureGlobal } from 'fast-check'
import { inject } from 'vitest'

configureGlobal({ seed: inject('seed') })
