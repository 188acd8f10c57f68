export const usageStates = ['unlimited', 'normal', 'warning', 'critical', 'exceeded'] as const
export type UsageState = (typeof usageStates)[number]

/** Shares of the quota from which usage is called `warning` and `critical`. */
export interface QuotaPercents {
  readonly warningPercent: number
  readonly criticalPercent: number
}

/** What usage is called, by what is reserved of the quota. */
export const usageState = (
  reservedBytes: number,
  quotaBytes: number | null,
  { warningPercent, criticalPercent }: QuotaPercents,
): UsageState => {
  if (quotaBytes === null) return 'unlimited'
  if (reservedBytes > quotaBytes) return 'exceeded'
  // Exactly: hundred times what a number holds exactly is beyond that.
  const reaches = (percent: number): boolean => BigInt(reservedBytes) * 100n >= BigInt(quotaBytes) * BigInt(percent)
  if (reaches(criticalPercent)) return 'critical'
  return reaches(warningPercent) ? 'warning' : 'normal'
}
