#!/usr/bin/env node
/** The command `svc-native`: the program in one file, which says itself when this Node is too old for it. */
await import('../dist/native.mjs')
