import { useMemo, useState } from 'react'
import { useAsk } from '../contract/asking.ts'
import { OverTime } from '../parts/over-time.tsx'
import { t } from '../words/words.ts'

const spans = [1, 7, 31] as const

const plain = (value: number): string => (Number.isInteger(value) ? String(value) : '')

/** What waited to be done, by what it was. */
export const QueueOverTime = () => {
  const [days, setDays] = useState(1)
  const read = useAsk('listServiceSamples', { query: { days } }, { everyMs: 60_000 })
  const items = read.data?.items
  const drawn = useMemo(() => {
    if (items === undefined || items.length === 0) return null
    return {
      times: items.map(({ takenAt }) => takenAt),
      series: [
        { name: t('system.sessions'), values: items.map(({ openUploadSessions }) => openUploadSessions) },
        { name: t('system.jobs'), values: items.map(({ openJobs }) => openJobs) },
      ],
    }
  }, [items])
  return <OverTime title={t('chart.queue')} {...{ spans, days, read, drawn }} choose={setDays} say={plain} />
}
