/** The artifact store beyond its disk or wire: what it throws that is no refusal means that it cannot be reached now. */
import { isRefusal, unavailable } from '../contract/index.ts'

export async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error)) throw error
    throw unavailable('artifact_store_failed', 'the artifact store cannot be reached; check its disk, then send the request again', {
      cause: error,
    })
  }
}
