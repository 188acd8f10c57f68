import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { t } from '../words/words.ts'
import { Act } from './act.tsx'
import { Bulk, type Item } from './bulk.tsx'
import { tell } from './toasts.tsx'

/** Takes many things away, each by itself, and brings back what went for whoever thinks again. */
export const BulkAct = ({
  by,
  repository,
  label,
  what,
  items,
  touches,
  clear,
  work,
  undo,
}: {
  readonly by: OperationId
  readonly repository: string
  readonly label: string
  /** What it means, in a sentence. */
  readonly what: string
  readonly items: readonly Item[]
  /** Lists that are read anew. */
  readonly touches: readonly OperationId[]
  readonly clear: () => void
  readonly work: (item: Item) => Promise<unknown>
  readonly undo: (item: Item) => Promise<unknown>
}) => {
  const [open, setOpen] = useState(false)
  const client = useQueryClient()
  const changed = (): void => {
    for (const id of touches) void client.invalidateQueries({ queryKey: [id] })
  }
  const bringBack = async (gone: readonly Item[]): Promise<void> => {
    try {
      for (const item of gone) await undo(item)
    } finally {
      changed()
    }
  }
  return (
    <>
      <Act by={by} on={repository} icon="trash" size="compact-sm" label={label} run={() => setOpen(true)} />
      {open ? (
        <Bulk
          title={label}
          label={label}
          items={items}
          close={() => setOpen(false)}
          work={async (item) => {
            await work(item)
            return null
          }}
          danger
          ended={(gone) => {
            changed()
            if (gone.length === 0) return
            if (gone.length === items.length) clear()
            tell(t('choice.gone', { count: gone.length }), () => bringBack(gone))
          }}
        >
          <p>{what}</p>
        </Bulk>
      ) : null}
    </>
  )
}
