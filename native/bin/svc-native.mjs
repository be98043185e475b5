#!/usr/bin/env node
/** The command `svc-native`: the program in one file. On a Node that is too old it is started again on the pinned one. */
import { onNode } from '@svc-ai/client/launch'

await onNode('svc-native', '22.18', () => import('../dist/native.mjs'))
