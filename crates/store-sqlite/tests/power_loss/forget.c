/* Preloaded into a process, this remembers what the process has synced: the content of a file at its
 * last fsync or fdatasync, and the entries of a folder at its last fsync. After the process was killed
 * the test makes of it what a disk may hold after a power loss.
 *
 * $FORGET_SHADOW/content/<inode>  what was synced of a file
 * $FORGET_SHADOW/entries/<inode>  "<inode> <name>" lines of a folder
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void publish(const char *kind, unsigned long inode, int from, DIR *folder) {
    const char *shadow = getenv("FORGET_SHADOW");
    if (!shadow) return;
    char final[4096], temporary[4096];
    snprintf(final, sizeof final, "%s/%s/%lu", shadow, kind, inode);
    snprintf(temporary, sizeof temporary, "%s/%s/.%lu-%d", shadow, kind, inode, (int)gettid());
    FILE *out = fopen(temporary, "w");
    if (!out) abort();
    if (folder) {
        struct dirent *entry;
        while ((entry = readdir(folder)))
            if (entry->d_name[0] != '.' || (entry->d_name[1] && entry->d_name[1] != '.'))
                fprintf(out, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    } else {
        static __thread char buffer[1 << 16];
        off_t at = 0;
        ssize_t read;
        while ((read = pread(from, buffer, sizeof buffer, at)) > 0) {
            if (fwrite(buffer, 1, read, out) != (size_t)read) abort();
            at += read;
        }
    }
    if (fclose(out) || rename(temporary, final)) abort();
}

static void synced(int fd) {
    struct stat found;
    if (fstat(fd, &found)) return;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (S_ISREG(found.st_mode)) {
        /* A descriptor of its own: this one may be open for writing alone. */
        int from = open(path, O_RDONLY);
        if (from < 0) return;
        publish("content", found.st_ino, from, NULL);
        close(from);
    } else if (S_ISDIR(found.st_mode)) {
        DIR *folder = opendir(path);
        if (!folder) return;
        publish("entries", found.st_ino, -1, folder);
        closedir(folder);
    }
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    (void)real; /* The kernel does not forget in this test, so it need not be asked to remember. */
    synced(fd);
    return 0;
}

int fdatasync(int fd) {
    synced(fd);
    return 0;
}
