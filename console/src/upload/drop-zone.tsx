import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Grid } from '../parts/grid.tsx'
import { Size, Tag, Written } from '../parts/values.tsx'
import { ask, useMay } from '../session/holders.ts'
import { shortBytes } from '../values/format.ts'
import { t } from '../words/words.ts'
import { chosenFiles, type Dropped, droppedFiles, isFaulty } from './dropped.ts'
import { enqueue, useUploads } from './queue.ts'

interface Reviewed extends Dropped {
  readonly target: string
  readonly fate: 'new' | 'revision' | 'bad'
}

const pagesLooked = 20

/** Which of these paths show something already. */
const pathsThere = async (repository: string, folder: string): Promise<Set<string>> => {
  const there = new Set<string>()
  let after: string | undefined
  for (let page = 0; page < pagesLooked; page += 1) {
    const { items, next } = await ask('listAssetPage', {
      path: { repository },
      query: { prefix: folder, limit: 100, ...(after === undefined ? {} : { after }) },
    })
    for (const { path } of items) there.add(path)
    if (next === null) break
    after = next
  }
  return there
}

/** Files are dropped or chosen here, looked at, and then sent. */
export const DropZone = ({ repository, folder }: { readonly repository: string; readonly folder: string }) => {
  const allowed = useMay()('putRaw', repository)
  const [over, setOver] = useState(false)
  const [review, setReview] = useState<readonly Reviewed[] | null>(null)
  const [reading, setReading] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folders = useRef<HTMLInputElement>(null)
  const left = useUploads().filter((each) => each.state === 'no-file' && each.record.repository === repository).length

  const look = async (dropped: Promise<Dropped[]> | Dropped[]): Promise<void> => {
    setReading(true)
    try {
      const all = await dropped
      const there = await pathsThere(repository, folder)
      setReview(
        all.map((each) => {
          const target = folder + each.path
          return { ...each, target, fate: isFaulty(target) ? 'bad' : there.has(target) ? 'revision' : 'new' }
        }),
      )
    } finally {
      setReading(false)
    }
  }
  const start = (): void => {
    enqueue(
      (review ?? [])
        .filter(({ fate }) => fate !== 'bad')
        .map(({ target, file, handle }) => ({ repository, path: target, file, handle })),
    )
    setReview(null)
  }
  if (!allowed.may) return null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dropped can be chosen by the buttons in it as well
    <div
      className={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void look(droppedFiles(event.dataTransfer))
      }}
    >
      <Icon name="upload" size={20} />
      <span>{left > 0 ? t('upload.left', { count: left }) : t('upload.drop')}</span>
      <Act
        by="putRaw"
        on={repository}
        label={t('upload.files')}
        size="xs"
        busy={reading}
        run={() => files.current?.click()}
      />
      <Act by="putRaw" on={repository} label={t('upload.folder')} size="xs" run={() => folders.current?.click()} />
      <input
        ref={files}
        type="file"
        multiple
        hidden
        data-testid="files"
        onChange={(event) => void look(chosenFiles(event.currentTarget.files ?? new DataTransfer().files))}
      />
      <input
        ref={(element) => {
          folders.current = element
          element?.setAttribute('webkitdirectory', '')
        }}
        type="file"
        hidden
        data-testid="folder"
        onChange={(event) => void look(chosenFiles(event.currentTarget.files ?? new DataTransfer().files))}
      />
      <Dialog title={t('upload.review')} open={review !== null} close={() => setReview(null)} size="lg">
        {review === null ? null : <Review rows={review} start={start} />}
      </Dialog>
    </div>
  )
}

const tones = { new: 'ok', revision: 'info', bad: 'danger' } as const

const Review = ({ rows, start }: { readonly rows: readonly Reviewed[]; readonly start: () => void }) => {
  const good = rows.filter(({ fate }) => fate !== 'bad')
  const bytes = good.reduce((sum, { file }) => sum + file.size, 0)
  return (
    <div className="form">
      <p>{t('upload.sum', { count: good.length, size: shortBytes(bytes) })}</p>
      <div className="review">
        <Grid
          label={t('upload.review')}
          rows={rows}
          keyOf={({ target }) => target}
          columns={[
            {
              key: 'path',
              label: t('list.path'),
              width: 'minmax(140px, 3fr)',
              show: ({ target }) => <Written mono text={target} />,
            },
            {
              key: 'fate',
              label: t('upload.what'),
              width: '130px',
              show: ({ fate }) => (
                <Tag
                  tone={tones[fate]}
                  text={fate === 'new' ? t('upload.new') : fate === 'revision' ? t('upload.revision') : t('upload.bad')}
                />
              ),
            },
            {
              key: 'size',
              label: t('list.size'),
              width: '84px',
              end: true,
              show: ({ file }) => <Size bytes={file.size} />,
            },
          ]}
        />
      </div>
      <div className="form-end">
        <Button onClick={start} disabled={good.length === 0} data-autofocus>
          {t('upload.start', { count: good.length })}
        </Button>
      </div>
    </div>
  )
}
