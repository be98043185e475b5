/** Before each test file: property tests draw from the seed of the run, and no secret of an earlier file is cut out of its texts. */
import { configureGlobal } from 'fast-check'
import { inject } from 'vitest'
import { forgetSecrets } from '../src/kit/known-secrets.ts'

configureGlobal({ seed: inject('seed') })
forgetSecrets()
