/** Moments: how long ago, kept up to date, or by the clock; the title is the exact one. */
import { useEffect, useState } from 'preact/hooks'
import { ago } from '../../../src/presentation/index.ts'
import { clockOf, isoOf } from './ago.ts'

const TICK_SECONDS = 5

export function Ago({ at }: { readonly at: number }) {
  const [now, setNow] = useState(nowSeconds)
  useEffect(() => {
    const timer = setInterval(() => setNow(nowSeconds()), TICK_SECONDS * 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={isoOf(at)} title={isoOf(at)} class="nowrap">
      {ago(at, now)}
    </time>
  )
}

export function Clock({ at }: { readonly at: number }) {
  return (
    <time dateTime={isoOf(at)} title={isoOf(at)} class="number nowrap">
      {clockOf(at, nowSeconds())}
    </time>
  )
}

const nowSeconds = (): number => Date.now() / 1000
