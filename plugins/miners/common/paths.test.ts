/** What paths say of tests. */
import { expect, it } from 'vitest'
import { mainTest, moduleOf } from './paths.ts'

it.each([
  ['test/parse.test.js', 'parse'],
  ['src/parse.ts', 'parse'],
  ['parse_test.go', 'parse'],
  ['tests/test_parse.py', 'parse'],
  ['shop/tests/test_cart.py', 'shop/cart'],
  ['packages/core/test/parse.test.ts', 'packages/core/parse'],
  ['packages/core/src/parse.ts', 'packages/core/src/parse'],
  ['server/parse/index.test.ts', 'server/parse/index'],
  ['', 'tests'],
])('%j is about %j', (path, module) => {
  expect(moduleOf(path)).toBe(module)
})

it.each([
  [['tests/__snapshots__/a.test.ts.snap', 'tests/conftest.py', 'tests/data.json', 'tests/test_cart.py'], 'tests/test_cart.py'],
  [['tests/Makefile', 'tests/run.sh'], 'tests/run.sh'],
  [['tests/Makefile'], 'tests/Makefile'],
  [[], ''],
])('of %j the main one is %j', (tests, main) => {
  expect(mainTest(tests)).toBe(main)
})
