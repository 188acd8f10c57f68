import { useQuery } from '@tanstack/react-query'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Written } from '../../parts/values.tsx'
import { exactBytes } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import { bytesOf, isText, textBytesMax } from './bytes.ts'

const imageBytesMax = 4 * 1024 * 1024
const imageName = /\.(?:png|jpe?g|gif|webp|avif)$/i

/** A look at a file: text as text, a picture as one, nothing else. */
export const Preview = ({
  repository,
  id,
  name,
  size,
}: {
  readonly repository: string
  readonly id: string
  readonly name: string
  readonly size: number
}) => {
  const isImage = imageName.test(name) && size <= imageBytesMax
  const seen = useQuery({
    queryKey: ['preview', repository, id],
    enabled: size > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const blob = await bytesOf(repository, id, isImage ? imageBytesMax : textBytesMax, signal)
      if (isImage) return { kind: 'image' as const, url: URL.createObjectURL(new Blob([blob])) }
      const text = await blob.text()
      return isText(text) ? { kind: 'text' as const, text } : { kind: 'none' as const }
    },
  })
  return (
    <Section title={t('file.preview')}>
      {size === 0 ? (
        <p className="muted">{t('file.empty')}</p>
      ) : (
        <Shown of={seen} rows={4}>
          {(preview) =>
            preview.kind === 'image' ? (
              <img className="preview-image" src={preview.url} alt={name} />
            ) : preview.kind === 'text' ? (
              <>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
                <pre className="preview-text" tabIndex={0}>
                  <Written text={preview.text} lines />
                </pre>
                {size > textBytesMax ? (
                  <p className="muted small">{t('file.cut', { size: exactBytes(size) })}</p>
                ) : null}
              </>
            ) : (
              <p className="muted">{t('file.binary')}</p>
            )
          }
        </Shown>
      )}
    </Section>
  )
}
