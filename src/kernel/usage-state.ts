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
  if (reservedBytes * 100 >= quotaBytes * criticalPercent) return 'critical'
  return reservedBytes * 100 >= quotaBytes * warningPercent ? 'warning' : 'normal'
}
