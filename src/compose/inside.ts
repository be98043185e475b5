/** The hosts of the inside that models of scenarios may be at. */
import { isLoopback, type LoadedConfig } from '../config/index.ts'

/** A client that reaches a service on loopback is on this machine anyway. */
const THIS_MACHINE = ['127.0.0.0/8', '::1']

export function allowedInside({ config: { svc, inference } }: LoadedConfig): readonly string[] {
  return inference.allow_inside ?? (isLoopback(svc.host) ? THIS_MACHINE : [])
}
