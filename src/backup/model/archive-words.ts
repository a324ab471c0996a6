/** The words with which a pair of commands names an archive: they differ in these alone. */
export interface ArchiveWords {
  noun: "backup" | "export";
  one: string;
  made: string;
  read: "restore" | "import";
  done: string;
  again: string;
}

export const BACKUP_WORDS: ArchiveWords = {
  noun: "backup",
  one: "a backup",
  made: "backed up",
  read: "restore",
  done: "restored",
  again: "Take another backup.",
};

export const EXPORT_WORDS: ArchiveWords = {
  noun: "export",
  one: "an export",
  made: "exported",
  read: "import",
  done: "imported",
  again: "Make another export.",
};
