import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, usePages } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { Earlier } from '../../parts/history.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import type { Attachment } from './attached.ts'
import { EditAttachments } from './edit-attachments.tsx'
import type { Of } from './of.ts'

/** What belongs to a build: its bill of materials, signatures, reports; what did before, and how it is changed. */
export const Attachments = ({ repository, id }: Of) => {
  const read = useAsk('getAttachments', { path: { repository, id } })
  const [editing, setEditing] = useState(false)
  return (
    <Section
      title={t('artifact.attached')}
      actions={
        <Act
          by="putAttachments"
          on={repository}
          size="compact-sm"
          label={t('artifact.edit')}
          off={read.data === undefined}
          run={() => setEditing(true)}
        />
      }
    >
      <Shown of={read} rows={2}>
        {(now) => (
          <div className="panel">
            {now.items.length === 0 ? (
              <p className="muted">{t('attach.none')}</p>
            ) : (
              <List repository={repository} items={now.items} />
            )}
            {now.revision === 0 ? null : <Before repository={repository} id={id} />}
            {editing ? (
              <EditAttachments repository={repository} id={id} base={now} close={() => setEditing(false)} />
            ) : null}
          </div>
        )}
      </Shown>
    </Section>
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
          {name}
        </Link>
        <span className="muted">{description}</span>
      </li>
    ))}
  </ul>
)
