/**
 * Whether known scores of the served release still hold. A sample of them is played again in every step; where nothing has changed, a score is
 * as likely to rise as to fall. The evidence is a bet on either direction, so it may be looked at after each one.
 */

const STAKES = [0.9, 0.5, -0.5, -0.9]
/** A false alarm costs episodes and nothing else, so a chance of 1 in 8 is enough. */
const EVIDENCE_MIN = 8

export class CacheAudit {
  #evidence = STAKES.map(() => 1)
  #rose = 0
  #fell = 0
  #same = 0

  add(before: number, now: number): void {
    const direction = Math.sign(now - before)
    this.#evidence = this.#evidence.map((wealth, index) => wealth * (1 + (STAKES[index] ?? 0) * direction))
    if (direction > 0) this.#rose += 1
    else if (direction < 0) this.#fell += 1
    else this.#same += 1
  }

  /** Why the known scores no longer hold, or null. */
  get problem(): string | null {
    const evidence = this.#evidence.reduce((sum, wealth) => sum + wealth, 0) / STAKES.length
    if (evidence < EVIDENCE_MIN) return null
    const played = this.#rose + this.#fell + this.#same
    return `of ${played} known scores of the served release that were played again ${this.#rose} rose and ${this.#fell} fell: the model or the grader has changed`
  }
}
