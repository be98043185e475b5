/**
 * What runs the tests of a commit in the process that loads them, and says at their end which of them ran. It takes a key that nothing which the
 * tests import was given, and writes it down with what ran: an agent's code that ends the process, or prints what a runner prints, has no key.
 */

/** Properties that are there stay as they are; a test may add others. */
const LOCK = `const lock = (object) => {
  for (const name of Reflect.ownKeys(object)) {
    const { configurable, value } = Object.getOwnPropertyDescriptor(object, name)
    if (configurable && value !== undefined) Object.defineProperty(object, name, { writable: false, configurable: false })
  }
}`

const SAY = `const key = readFileSync(new URL('key', import.meta.url), 'utf8')
unlinkSync(new URL('key', import.meta.url))
const { apply } = Reflect
const { sort, join } = Array.prototype
const sum = (names) => createHash('sha256').update(apply(join, apply(sort, names, []), ['\\n'])).digest('hex').slice(0, 16)
const say = (names) => writeFileSync(new URL('said', import.meta.url), key + ' ' + names.length + ':' + sum(names))`

const IMPORTS = `import { createHash } from 'node:crypto'
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'`

/** Loaded before one file of tests, and its reporter. */
export const NODE_PROGRAM = `${IMPORTS}
import assert from 'node:assert'
import Module from 'node:module'
import test, { after } from 'node:test'
${SAY}
${LOCK}
for (const each of [assert, assert.strict, assert.AssertionError.prototype, test, test.describe, test.it, Module, Module.prototype]) lock(each)
let started = false
let failed = false
async function* told(source) {
  const ran = []
  for await (const { type, data } of source) {
    if (type === 'test:pass') ran.push(data.nesting + ' ' + data.name + ' ' + (data.skip !== undefined))
    if (type !== 'test:fail') continue
    failed ||= data.todo === undefined
    const error = data.details?.error?.cause ?? data.details?.error
    yield 'failed: ' + data.name + ': ' + (error?.message ?? error) + '\\n'
  }
  if (!failed) say(ran)
}
export default (source) => {
  failed ||= started
  started = true
  return told(source)
}
// The report begins before the first test does.
after(() => {})
for (let turn = 0; turn < 100 && !started; turn += 1) await new Promise((resolve) => setImmediate(resolve))
`

/** A reporter in the process that starts the workers. */
export const VITEST_PROGRAM = `${IMPORTS}
${SAY}
const namesIn = (task, above) =>
  task.tasks === undefined ? [above + task.name + ' ' + task.result?.state] : task.tasks.flatMap((each) => namesIn(each, above + task.name + ' > '))
const end = (files, errors) => {
  const names = files.flatMap((file) => file.tasks.flatMap((each) => namesIn(each, '')))
  if (errors.length === 0 && files.length > 0 && !files.some(({ result }) => result?.state === 'fail') && !names.some((name) => name.endsWith(' fail'))) say(names)
}
export default class {
  onFinished(files = [], errors = []) {
    end(files, errors)
  }
  onTestRunEnd(modules, errors) {
    end(modules.map(({ task }) => task), errors)
  }
}
`

/** The first import of every file of tests. */
export const VITEST_LOCK = `import { assert, chai, expect } from 'vitest'
${LOCK}
for (const each of [assert, expect, chai.Assertion.prototype]) lock(each)
for (const name of ['expect', 'assert', 'test', 'it', 'describe', 'suite'])
  if (name in globalThis) Object.defineProperty(globalThis, name, { writable: false, configurable: false })
`

/** A reporter. */
export const JEST_PROGRAM = `const { createHash } = require('node:crypto')
const { readFileSync, unlinkSync, writeFileSync } = require('node:fs')
const key = readFileSync(__dirname + '/key', 'utf8')
unlinkSync(__dirname + '/key')
module.exports = class {
  onRunComplete(_, results) {
    const names = results.testResults.flatMap((file) => file.testResults.map(({ fullName, status }) => fullName + ' ' + status)).sort()
    const sum = createHash('sha256').update(names.join('\\n')).digest('hex').slice(0, 16)
    if (results.success) writeFileSync(__dirname + '/said', key + ' ' + names.length + ':' + sum)
  }
}
`

/** Runs pytest or unittest; a file in the workspace may have the name of any module, so it is not on the path before they are loaded. */
export const PYTHON_PROGRAM = `import sys

del sys.path[0]
import hashlib
import os
import types


def run(kind, room, paths):
    with open(room + "/key") as file:
        key = file.read()
    os.unlink(room + "/key")
    leave, sums = os._exit, hashlib.sha256
    ran = []
    if kind == "pytest":
        import pytest

        class Reported:
            def pytest_runtest_logreport(self, report):
                if report.when == "call" or report.skipped:
                    ran.append(report.nodeid + " " + report.outcome)

        play = lambda: int(pytest.main(["-q", "-p", "no:cacheprovider", *paths], plugins=[Reported()]))
    else:
        import unittest

        class Result(unittest.TextTestResult):
            def addSuccess(self, test):
                super().addSuccess(test)
                ran.append(test.id())

        runner = unittest.TextTestRunner(resultclass=Result)
        play = lambda: int(not unittest.main(module=None, argv=["unittest", *paths], exit=False, testRunner=runner).result.wasSuccessful())
    before = functions()
    sys.path[:0] = ["", "src"]
    sys.argv[1:] = paths
    code = play()
    after = functions()
    changed = [name for name, value in before.items() if after.get(name) is not value]
    if changed:
        print("the tests' own functions were changed: " + ", ".join(changed[:3]), file=sys.stderr)
    elif code == 0 and ran:
        names = chr(10).join(sorted(ran)).encode(errors="replace")
        with open(room + "/said", "w") as file:
            file.write(key + " " + str(len(ran)) + ":" + sums(names).hexdigest()[:16])
    sys.stdout.flush()
    sys.stderr.flush()
    leave(0 if code == 0 else 1)


def functions():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in ("pytest", "_pytest", "pluggy", "unittest"):
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                found[name + "." + key] = value
            elif isinstance(value, type):
                for part, of_class in list(vars(value).items()):
                    if isinstance(of_class, (types.FunctionType, property, classmethod, staticmethod)):
                        found[name + "." + key + "." + part] = of_class
    return found


run(sys.argv[1], sys.argv[2], sys.argv[3:])
`
