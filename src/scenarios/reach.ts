/** Calls the artifact store. An error that is not a refusal means that the store cannot be reached now. */
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
