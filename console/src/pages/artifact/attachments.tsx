import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, usePages } from '../../contract/asking.ts'
import { Editable } from '../../parts/editable.tsx'
import { Earlier } from '../../parts/history.tsx'
import { Tag, Written } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import type { Attachment } from './attached.ts'
import { EditAttachments } from './edit-attachments.tsx'
import type { Of } from './of.ts'

/** What belongs to a build: its bill of materials, signatures, reports; what did before, and how it is changed. */
export const Attachments = ({ repository, id }: Of) => {
  const read = useAsk('getAttachments', { path: { repository, id } })
  return (
    <Editable
      title={t('artifact.attached')}
      by="putAttachments"
      repository={repository}
      read={read}
      edit={(now, close) => <EditAttachments repository={repository} id={id} base={now} close={close} />}
    >
      {(now) => (
        <>
          {now.items.length === 0 ? (
            <p className="muted">{t('attach.none')}</p>
          ) : (
            <List repository={repository} items={now.items} />
          )}
          {now.revision === 0 ? null : <Before repository={repository} id={id} />}
        </>
      )}
    </Editable>
  )
}

const Before = ({ repository, id }: Of) => {
  const [open, setOpen] = useState(false)
  const list = usePages(
    'listAttachmentHistory',
    (before) => ({ path: { repository, id }, ...(before === undefined ? {} : { query: { before: Number(before) } }) }),
    { enabled: open },
  )
  return (
    <Earlier
      list={list}
      open={open}
      toggle={setOpen}
      none={t('list.nothing')}
      show={({ items }) =>
        items.length === 0 ? (
          <p className="muted">{t('attach.nothing')}</p>
        ) : (
          <List repository={repository} items={items} />
        )
      }
    />
  )
}

const List = ({ repository, items }: { readonly repository: string; readonly items: readonly Attachment[] }) => (
  <ul className="lines">
    {items.map(({ name, kind, artifactId, description }) => (
      <li key={name} className="line">
        <Tag text={said('attach.kind', kind)} />
        <Link to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
          <Written text={name} />
        </Link>
        <Written muted text={description} />
      </li>
    ))}
  </ul>
)
