import { useMemo, useState } from 'react'
import { useAsk } from '../../contract/asking.ts'
import { OverTime } from '../../parts/over-time.tsx'
import { shortBytes } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

const spans = [7, 31, 400] as const

/** How full a repository was, beside its quota. */
export const UsageOverTime = ({ repository }: Of) => {
  const [days, setDays] = useState(31)
  const read = useAsk('listUsageSamples', { path: { repository }, query: { days } })
  const items = read.data?.items
  const drawn = useMemo(() => {
    const last = items?.at(-1)
    if (items === undefined || last === undefined) return null
    // What was sampled last holds until now.
    const all = [...items, { ...last, takenAt: new Date().toISOString() }]
    const quotas = all.map(({ quotaBytes }) => (quotaBytes === null ? null : Number(quotaBytes)))
    return {
      times: all.map(({ takenAt }) => takenAt),
      series: [
        { name: t('storage.published'), values: all.map(({ publishedBytes }) => Number(publishedBytes)) },
        { name: t('storage.retired'), values: all.map(({ retiredBytes }) => Number(retiredBytes)) },
        ...(quotas.every((quota) => quota === null) ? [] : [{ name: t('storage.quota'), values: quotas }]),
      ],
    }
  }, [items])
  return (
    <OverTime title={t('chart.usage')} {...{ spans, days, read, drawn }} choose={setDays} ofBytes say={shortBytes} />
  )
}
