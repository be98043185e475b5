import { describe, expect, it } from 'vitest'
import { wordsOf } from './words.ts'

describe('what an error says to people', () => {
  it.each<[string, unknown, string]>([
    ['is one line', new Error('one\n  two'), 'one two'],
    ['is its name where it has no words', new TypeError(''), 'TypeError'],
    ['names no folder of this machine', new Error("ENOENT: no such file '/srv/secret/place/x.json'"), "ENOENT: no such file 'x.json'"],
    ['leaves addresses alone', new Error('GET http://127.0.0.1:8900/svc/status failed'), 'GET http://127.0.0.1:8900/svc/status failed'],
    ['leaves fractions and relative paths alone', new Error('3/4 of a/b/c'), '3/4 of a/b/c'],
    ['withholds a credential', new Error(`bad key sk-${'a'.repeat(20)}`), 'it failed; what it said holds a credential and is withheld'],
    ['is something also for what cannot be printed', Object.create(null), 'it failed without saying why'],
  ])('%s', (_case, error, words) => {
    expect(wordsOf(error)).toBe(words)
  })
})
