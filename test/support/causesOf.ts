/** The error and what caused it, outermost first. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes = []
  for (let each = error; each; each = (each as { cause?: unknown }).cause) causes.push(each)
  return causes
}
