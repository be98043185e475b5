/** The options of `node --test` in scripts as people write them. */
import { expect, it } from 'vitest'
import { nodeOptionsIn } from './node-options.ts'

it.each<readonly [script: string, options: string]>([
  ['node --test', ''],
  ['node --import ./setup.js --test', '--import ./setup.js'],
  ['node --test --import=./setup.js test/', '--import=./setup.js'],
  ['node --experimental-strip-types --test test/', '--experimental-strip-types'],
  ['NODE_ENV=test node -r ./a.cjs --import tsx --test "test/**/*.test.ts"', '-r ./a.cjs --import tsx'],
  ["npm run build && node --conditions 'a b' --test dist && echo done", "--conditions 'a b'"],
  ['node build.js && node --no-warnings --test', '--no-warnings'],
  ['c8 node --expose-gc --test --test-reporter spec --test-timeout 500 a.test.js --later', '--expose-gc --test-timeout 500'],
  ['node --test --test-only --test-force-exit --watch --test-name-pattern=one --experimental-test-coverage', '--test-force-exit'],
  ['node --test-concurrency 1 --test-update-snapshots --test', '--test-concurrency 1'],
  ['node --import "$SETUP" --test', ''],
  ['node --no-warnings --test --import $SETUP', '--no-warnings'],
  ['node --import ./a.js run.js', ''],
  ['vitest run', ''],
])('of %j it keeps %j', (script, options) => {
  expect(nodeOptionsIn(script).join(' ')).toBe(options)
})
