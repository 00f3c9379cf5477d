/** What went wrong, where it was tried; nothing while nothing did. */
export function Mistake({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p class="trouble" role="alert">
      {text}
    </p>
  )
}
